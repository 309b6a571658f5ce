#include "tasks/landlock.h"

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace repro_minify {
namespace {

using Rights = unsigned long long;

// These constants come from newer headers than those of Debian 12.
constexpr Rights truncate_files = 1ULL << 14;        // LANDLOCK_ACCESS_FS_TRUNCATE, version 3
constexpr Rights bind_and_connect = 3;               // LANDLOCK_ACCESS_NET_*_TCP, version 4
constexpr Rights abstract_sockets_and_signals = 0x3; // LANDLOCK_SCOPE_*, version 6

/// struct landlock_ruleset_attr as version 6 has it; an older kernel is given its beginning.
struct Handled {
  Rights files = 0, network = 0, scopes = 0;
};

constexpr Rights reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr Rights reading_and_starting = reading | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr Rights all_of_version_1 = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
constexpr Rights of_a_file =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_EXECUTE | truncate_files;

Rights known_rights() {
  const int version = landlock_version();
  return all_of_version_1 | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) | (version >= 3 ? truncate_files : 0);
}

[[noreturn]] void fail(const char *what) {
  throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

int landlock_version() {
  static const int version = [] {
    const long answer = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return answer > 0 ? static_cast<int>(answer) : 0;
  }();
  return version;
}

LandlockRules::LandlockRules() {
  const int version = landlock_version();
  const Handled handled{known_rights(), bind_and_connect, abstract_sockets_and_signals};
  const size_t size = version >= 6 ? sizeof handled : version >= 4 ? 2 * sizeof(Rights) : sizeof(Rights);
  rules_ = static_cast<int>(syscall(SYS_landlock_create_ruleset, &handled, size, 0));
  if (rules_ < 0)
    fail("no Landlock rules can be made");
}

LandlockRules::~LandlockRules() {
  if (rules_ >= 0)
    close(rules_);
}

void LandlockRules::allow_reading(const std::string &path) {
  allow(path, reading_and_starting);
}

void LandlockRules::allow_writing(const std::string &path) {
  allow(path, known_rights() & ~Rights{LANDLOCK_ACCESS_FS_EXECUTE});
}

void LandlockRules::allow(const std::string &path, Rights rights) {
  const int file = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0)
    return;
  struct stat status {};
  if (fstat(file, &status) == 0 && !S_ISDIR(status.st_mode))
    rights &= of_a_file & known_rights();
  const landlock_path_beneath_attr rule{rights, file};
  const long result = syscall(SYS_landlock_add_rule, rules_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  const int problem = errno;
  close(file);
  if (result != 0 && problem != EBADFD) { // a socket, or a file of no file system, takes no rule
    errno = problem;
    fail("a Landlock rule is refused");
  }
}

void LandlockRules::enforce() const {
  if (syscall(SYS_landlock_restrict_self, rules_, 0) != 0)
    fail("Landlock cannot be enforced");
}

} // namespace repro_minify
