#include "tasks/descendants.h"

#include "tasks/time_limit.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

/// The mark is a limit, for limits are inherited by all that is started and can be read of any process of ours: that on
/// the processor time of real-time processes, in microseconds. With this much of it none meets it in 36,000 years.
constexpr rlim_t mark_base = rlim_t{1} << 60;
constexpr pid_t most_processes = 1 << 22; // of the kernel
constexpr auto between_kills = std::chrono::microseconds(200);

rlim_t mark_of(pid_t check) {
  return mark_base + static_cast<rlim_t>(check);
}

bool is_marked(pid_t process, pid_t check) {
  rlimit limit{};
  return prlimit(process, RLIMIT_RTTIME, nullptr, &limit) == 0 && limit.rlim_cur == mark_of(check);
}

/// The children of one thread, as the kernel lists them.
void add_children(const std::string &list, std::vector<pid_t> &children) {
  const int file = open(list.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  std::string text;
  std::array<char, 4096> chunk{};
  for (ssize_t size; (size = read(file, chunk.data(), chunk.size())) > 0;)
    text.append(chunk.data(), static_cast<std::size_t>(size));
  close(file);
  const char *at = text.c_str();
  for (char *end = nullptr; const long pid = std::strtol(at, &end, 10); at = end)
    children.push_back(static_cast<pid_t>(pid));
}

std::vector<pid_t> children_of(const std::string &process) {
  std::vector<pid_t> children;
  const std::string folder = "/proc/" + process + "/task";
  DIR *threads = opendir(folder.c_str());
  if (!threads)
    return children;
  while (const dirent *entry = readdir(threads))
    if (entry->d_name[0] != '.')
      add_children(folder + "/" + entry->d_name + "/children", children);
  closedir(threads);
  return children;
}

std::vector<pid_t> children_of_this_process() {
  return children_of("self");
}

/// These processes, and all that they have started that is there still. Found by who has started whom: the mark alone
/// may be that of a stranger's check, whose number is the same in a container.
std::vector<pid_t> with_descendants(std::vector<pid_t> processes) {
  for (std::size_t i = 0; i < processes.size(); ++i)
    for (const pid_t child : children_of(std::to_string(processes[i])))
      if (std::find(processes.begin(), processes.end(), child) == processes.end()) // not on its way to another parent
        processes.push_back(child);
  return processes;
}

/// The processes that are left of this check: while one of them lives, so does a child of this process that is marked.
std::vector<pid_t> left_of(pid_t check) {
  std::vector<pid_t> left = children_of_this_process();
  std::erase_if(left, [check](pid_t child) { return child == check || !is_marked(child, check); });
  return with_descendants(std::move(left));
}

/// The target of "/proc/PROCESS/ns/pid"; nothing where that is not told.
std::optional<std::pair<dev_t, ino_t>> numbers_of(const std::string &process) {
  struct stat status {};
  if (stat(("/proc/" + process + "/ns/pid").c_str(), &status) != 0)
    return std::nullopt;
  return std::pair(status.st_dev, status.st_ino);
}

} // namespace

ProcessorUse use_with_descendants(std::vector<pid_t> processes) {
  ProcessorUse use;
  for (const pid_t process : with_descendants(std::move(processes)))
    use += use_of_process(process);
  return use;
}

void mark_as_check() {
  rlimit limit{};
  getrlimit(RLIMIT_RTTIME, &limit);
  limit.rlim_cur = mark_of(getpid());
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_cur <= limit.rlim_max)
    setrlimit(RLIMIT_RTTIME, &limit);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void adopt_what_checks_leave() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::size_t count_processes_of_checks() {
  std::vector<pid_t> checks = children_of_this_process();
  std::erase_if(checks, [](pid_t child) { return !is_marked(child, child); });
  return with_descendants(std::move(checks)).size();
}

void kill_what_is_left_of(pid_t check) {
  // All at once, however deep: those that have started others in the meantime are fewer each time.
  Hunt hunt(Hunt::Clock::now());
  for (auto left = left_of(check); hunt.goes_on(left, Hunt::Clock::now()); left = left_of(check)) {
    for (const pid_t process : left) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, WNOHANG);
    }
    std::this_thread::sleep_for(between_kills);
  }
}

void kill_what_dead_runs_left() {
  const auto own_numbers = numbers_of("self");
  DIR *processes = own_numbers ? opendir("/proc") : nullptr;
  if (!processes)
    return;
  while (const dirent *entry = readdir(processes)) {
    const auto process = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    rlimit limit{};
    if (process <= 0 || prlimit(process, RLIMIT_RTTIME, nullptr, &limit) != 0 || limit.rlim_cur <= mark_base ||
        limit.rlim_cur > mark_of(most_processes))
      continue;
    if (numbers_of(entry->d_name) != own_numbers) // a container's: its mark is a number in there
      continue;
    const auto check = static_cast<pid_t>(limit.rlim_cur - mark_base);
    if (!is_marked(check, check)) // its check is gone
      kill(process, SIGKILL);
  }
  closedir(processes);
}

} // namespace repro_minify
