#include "tasks/growth.h"

#include "tasks/descendants.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <sys/statvfs.h>

namespace repro_minify {
namespace {

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

} // namespace

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
    return "writes more than " + std::to_string(most_bytes_ >> 20) + " MiB (--memory-limit gives it more)";
  return "";
}

} // namespace repro_minify
