#include "sandbox/processor_use.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace repro_minify {
namespace {

using std::chrono::nanoseconds;

int schedstat_of_this_process = -1;

/// "<nanoseconds on a processor> <nanoseconds on a run queue> <slices>": see "schedstat" in proc(5). By hand, as no
/// function of the library that reads numbers is safe in a signal handler.
nanoseconds waited_in(int schedstat) {
  std::array<char, 128> text{};
  const ssize_t size = pread(schedstat, text.data(), text.size(), 0);
  std::int64_t number = 0;
  int field = 0;
  for (ssize_t at = 0; at < size && field < 2; ++at) {
    const char c = text[static_cast<std::size_t>(at)];
    if (c >= '0' && c <= '9' && number < INT64_MAX / 100)
      number = 10 * number + (c - '0');
    else if (c == ' ' && ++field == 1)
      number = 0;
    else if (c != ' ')
      return nanoseconds(0);
  }
  return nanoseconds(field == 2 ? number : 0);
}

nanoseconds spent_by(clockid_t clock) {
  timespec spent{};
  if (clock_gettime(clock, &spent) != 0)
    return nanoseconds(0);
  return std::chrono::seconds(spent.tv_sec) + nanoseconds(spent.tv_nsec);
}

} // namespace

void prepare_processor_use() {
  schedstat_of_this_process = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
}

ProcessorUse use_of_this_process() {
  return {spent_by(CLOCK_PROCESS_CPUTIME_ID), waited_in(schedstat_of_this_process)};
}

ProcessorUse use_of_process(pid_t pid) {
  clockid_t clock = 0;
  if (clock_getcpuclockid(pid, &clock) != 0)
    return {};
  const int schedstat = open(("/proc/" + std::to_string(pid) + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC);
  const ProcessorUse use{spent_by(clock), waited_in(schedstat)};
  if (schedstat >= 0)
    close(schedstat);
  return use;
}

} // namespace repro_minify
