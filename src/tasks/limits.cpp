#include "tasks/limits.h"

#include "core/number_text.h"

#include "repro_minify/sandbox.h"
#include "tasks/descendants.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace repro_minify {
namespace {

/// The hard limit stays as it is.
template <typename Resource> void set_soft_limit(Resource resource, rlim_t value) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0)
    return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  setrlimit(resource, &limit);
}

/// Private writable memory that the process has mapped: what RLIMIT_DATA counts, and its stack.
std::uint64_t private_memory_bytes() {
  std::array<char, 256> text{};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  const ssize_t size = read(file, text.data(), text.size() - 1);
  close(file);
  if (size <= 0)
    return 0;
  char *at = text.data();
  for (int before = 0; before < 5; ++before) // the sixth number is that of the data's pages
    std::strtoull(at, &at, 10);
  return std::uint64_t{std::strtoull(at, nullptr, 10)} * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::optional<std::uint64_t> number_in(const std::string &path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt; // "max" is no number
}

/// Bytes of files that the kernel keeps in memory and gives back when it is asked for some. `prefix` stands before the
/// names of the lines in `path`, as in memory.stat.
std::uint64_t cache_in(const std::string &path, const std::string &prefix) {
  std::ifstream file(path);
  std::uint64_t all = 0, bytes = 0;
  for (std::string name; file >> name >> bytes;)
    if (name == prefix + "inactive_file" || name == prefix + "active_file")
      all += bytes;
  return all;
}

/// Version 2, and version 1 as containers have it.
std::optional<std::uint64_t> free_in_the_control_group() {
  struct Version {
    std::string folder, most, used, prefix;
  };
  for (const auto &[folder, most, used, prefix] :
       {Version{"/sys/fs/cgroup/", "memory.max", "memory.current", ""},
        Version{"/sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"}})
    if (const auto limit = number_in(folder + most)) {
      const std::uint64_t taken = number_in(folder + used).value_or(0);
      return *limit - std::min(*limit, taken - std::min(taken, cache_in(folder + "memory.stat", prefix)));
    }
  return std::nullopt;
}

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The time between two looks. A program that starts others without end has a hundred more in that time.
constexpr auto between_looks = 20ms;
/// The most files that may be written: no program needs as many, and more take long to count and to remove.
constexpr std::size_t most_files = 100'000;

struct Written {
  std::size_t files = 0;
  std::uint64_t bytes = 0; ///< on the disk: a hole takes no room
};

/// Adds the files below `folder`, as far as they can be seen while others write there; stops where there are too many.
void add_files_of(const fs::path &folder, std::uint64_t most_bytes, Written &written) {
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, options, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat status {};
    if (lstat(entry->path().c_str(), &status) == 0)
      written.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    if (++written.files > most_files || written.bytes > most_bytes)
      return;
  }
}

std::uint64_t free_disk(const fs::path &folder) {
  struct statvfs status {};
  return statvfs(folder.c_str(), &status) == 0 ? std::uint64_t{status.f_bavail} * status.f_frsize : 0;
}

/// Memory that a new process could have without swapping, in bytes; 0 where it cannot be known.
std::uint64_t free_on_the_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view name = "MemAvailable:"; // in KiB
    if (line.starts_with(name))
      return std::uint64_t{std::strtoull(line.c_str() + name.size(), nullptr, 10)} << 10;
  }
  return 0;
}

} // namespace

void forbid_core_dumps() {
  // 1, not 0: a limit of 0 does not stop a core handler that is a program (systemd-coredump), a limit of 1 stops both.
  set_soft_limit(RLIMIT_CORE, 1);
}

void limit_added_memory(std::uint64_t bytes) {
  const std::uint64_t present = private_memory_bytes();
  if (present == 0) // it cannot be known, and a limit below what there is would be met at once
    return;
  rlimit limit{};
  if (bytes >= RLIM_INFINITY - present || getrlimit(RLIMIT_DATA, &limit) != 0)
    return;
  // The hard limit too: who may not raise that (confine()) has no more, whatever it runs and starts.
  limit.rlim_cur = limit.rlim_max = std::min(present + bytes, limit.rlim_max);
  setrlimit(RLIMIT_DATA, &limit);
}

std::uint64_t memory_allowance() {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return 0;
  const std::uint64_t present = private_memory_bytes();
  return limit.rlim_cur > present ? limit.rlim_cur - present : 1;
}

void keep_stack_in_reserve() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    set_soft_limit(RLIMIT_STACK, limit.rlim_cur / 4 * 3);
}

std::uint64_t memory_that_fits() {
  static const std::uint64_t bytes = [] {
    std::uint64_t free = free_on_the_machine();
    if (const auto in_group = free_in_the_control_group(); in_group && *in_group < free)
      free = *in_group;
    return free / 4 * 3;
  }();
  return bytes;
}

Limits generous_limits() {
  Limits limits;
  limits.timeout = std::chrono::minutes(10);
  limits.reply_capacity = size_t{16} << 30;
  limits.memory_bytes = memory_that_fits();
  return limits;
}

void volunteer_for_out_of_memory_killer() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return;
  // Not the maximum: that would pick a small child before any other process of the machine.
  [[maybe_unused]] const ssize_t written = write(file, "500", 3);
  close(file);
}

Growth::Growth(std::size_t most_processes, std::vector<fs::path> folders, std::uint64_t most_bytes)
    : most_processes_(most_processes), folders_(std::move(folders)),
      most_bytes_(most_bytes > 0 ? most_bytes : std::numeric_limits<std::uint64_t>::max()),
      next_(Clock::now() + between_looks) {
  for (const auto &folder : folders_)
    least_free_.push_back(free_disk(folder) / 4);
}

bool Growth::is_too_much() {
  const auto now = Clock::now();
  if (!what_.empty() || now < next_)
    return !what_.empty();
  what_ = look();
  const auto end = Clock::now();
  next_ = end + std::max<Clock::duration>(between_looks, (end - now) * 20);
  return !what_.empty();
}

std::string Growth::look() const {
  if (count_processes_of_checks() > most_processes_)
    return "has more than " + std::to_string(most_processes_) + " processes at a time";
  for (std::size_t i = 0; i < folders_.size(); ++i)
    if (free_disk(folders_[i]) < least_free_[i])
      return "fills the disk (" + folders_[i].parent_path().string() + "; TMPDIR names another)";
  Written written;
  for (const auto &folder : folders_)
    add_files_of(folder, most_bytes_, written);
  if (written.files > most_files)
    return "writes more than " + std::to_string(most_files) + " files";
  if (written.bytes > most_bytes_)
    return "writes more than " + memory_text(most_bytes_) + " (--memory-limit gives it more)";
  return "";
}

} // namespace repro_minify
