#include "core/temporary_folder.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "repro-minify.";
constexpr std::string_view not_locked_yet = "repro-minify-new.";
constexpr size_t random_letters = 6;

[[noreturn]] void fail() {
  throw std::system_error(errno, std::generic_category(), "no temporary folder can be made (TMPDIR says where)");
}

bool is_ours(const std::string &name) {
  return name.size() == prefix.size() + random_letters && name.starts_with(prefix) &&
         std::all_of(name.end() - random_letters, name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

int open_folder(const fs::path &path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// True for a folder of this user that no process locks: the one that made it was killed.
bool is_left_over(const fs::path &path) {
  const int folder = open_folder(path);
  if (folder < 0)
    return false;
  struct stat status {};
  const bool free = fstat(folder, &status) == 0 && status.st_uid == geteuid() && flock(folder, LOCK_EX | LOCK_NB) == 0;
  close(folder);
  return free;
}

/// Lets the owner of the folder and of those below it look into them and empty them, whatever made them.
void open_folders_below(const fs::path &folder) {
  chmod(folder.c_str(), S_IRWXU);
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (fs::is_directory(entry.symlink_status(error)))
      open_folders_below(entry.path());
}

void remove_folder(const fs::path &folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error)
    return;
  open_folders_below(folder);
  fs::remove_all(folder, error);
}

} // namespace

void remove_left_over_folders(const fs::path &parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error))
    if (is_ours(entry->path().filename().string()) && is_left_over(entry->path()))
      remove_folder(entry->path());
}

TemporaryFolder::TemporaryFolder() : owner_(getpid()) {
  const fs::path parent = fs::temp_directory_path();
  [[maybe_unused]] static const bool tidied = (remove_left_over_folders(parent), true);
  std::string made = (parent / (std::string(not_locked_yet) + "XXXXXX")).string();
  if (!mkdtemp(made.data()))
    fail();
  lock_ = open_folder(made);
  path_ = parent / (std::string(prefix) + made.substr(made.size() - random_letters));
  // Under the name that others tidy it is locked from the beginning.
  if (lock_ < 0 || flock(lock_, LOCK_EX) != 0 ||
      renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    const int problem = errno;
    rmdir(made.c_str());
    if (lock_ >= 0)
      close(lock_);
    errno = problem;
    fail();
  }
}

TemporaryFolder::~TemporaryFolder() {
  if (getpid() == owner_)
    remove_folder(path_);
  close(lock_);
}

} // namespace repro_minify
