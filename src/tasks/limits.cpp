#include "tasks/limits.h"

#include "repro_minify/sandbox.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
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

/// Version 2, and version 1 as containers have it.
std::optional<std::uint64_t> free_in_the_control_group() {
  for (const auto &[most, used] :
       {std::pair("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        std::pair("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes")})
    if (const auto limit = number_in(most))
      return *limit - std::min(*limit, number_in(used).value_or(0));
  return std::nullopt;
}

} // namespace

std::uint64_t free_on_the_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view name = "MemAvailable:"; // in KiB
    if (line.starts_with(name))
      return std::uint64_t{std::strtoull(line.c_str() + name.size(), nullptr, 10)} << 10;
  }
  return 0;
}

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

} // namespace repro_minify
