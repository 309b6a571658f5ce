#include "tasks/time_limit.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace repro_minify {
namespace {

using std::chrono::nanoseconds;

int schedstat_of_this_process = -1;
std::int64_t helper_spent_ns = 0, helper_waited_ns = 0;

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

nanoseconds spent_by_ended_children() {
  rusage spent{};
  if (getrusage(RUSAGE_CHILDREN, &spent) != 0)
    return nanoseconds(0);
  const auto duration = [](const timeval &time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return duration(spent.ru_utime) + duration(spent.ru_stime);
}

} // namespace

void prepare_processor_use() {
  schedstat_of_this_process = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
}

ProcessorUse use_of_this_process() {
  ProcessorUse use{nanoseconds(helper_spent_ns), nanoseconds(helper_waited_ns)};
  return use += {spent_by(CLOCK_PROCESS_CPUTIME_ID) + spent_by_ended_children(), waited_in(schedstat_of_this_process)};
}

void helper_has_used(const ProcessorUse &use) {
  helper_spent_ns = use.spent.count();
  helper_waited_ns = use.waited.count();
}

namespace {

/// Returns the time that the ended children of a process used: two fields of its stat, in ticks of the clock.
nanoseconds spent_by_ended_children_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 2))); // a name may have blanks
  std::string skipped;
  for (int field = 3; field < 16 && fields >> skipped; ++field) {
  }
  std::int64_t user = 0, system = 0;
  fields >> user >> system;
  return nanoseconds(user + system) * (1'000'000'000 / sysconf(_SC_CLK_TCK));
}

} // namespace

ProcessorUse use_of_process(pid_t pid) {
  clockid_t clock = 0;
  if (clock_getcpuclockid(pid, &clock) != 0)
    return {};
  const int schedstat = open(("/proc/" + std::to_string(pid) + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC);
  const ProcessorUse use{spent_by(clock) + spent_by_ended_children_of(pid), waited_in(schedstat)};
  if (schedstat >= 0)
    close(schedstat);
  return use;
}

} // namespace repro_minify
