// Limits in time, and the processor time that they are measured by.
#pragma once

#include <chrono>

#include <sys/types.h>

namespace repro_minify {

// How much of a processor a process had, and how long it waited for one, as Linux counts both.

struct ProcessorUse {
  std::chrono::nanoseconds spent{0};  ///< on processors, by all threads of the process
  std::chrono::nanoseconds waited{0}; ///< in which its main thread could have run and no processor was free

  ProcessorUse &operator+=(const ProcessorUse &other) {
    spent += other.spent, waited += other.waited;
    return *this;
  }
};

/// In a check's process, before it is confined: use_of_this_process() reads a file that it may not open afterwards.
void prepare_processor_use();
/// Includes the time on processors of processes that it started and that have ended, and what helper_has_used() told.
/// Safe in a signal handler. `waited` is zero without prepare_processor_use(), and where Linux does not count it.
ProcessorUse use_of_this_process();
/// Tells this process what another has used that works for it: `use` replaces what was told before.
void helper_has_used(const ProcessorUse &use);
/// `pid`: a process of this user. Nothing of the processes that it has started. Zero where the process is gone.
ProcessorUse use_of_process(pid_t pid);

// When a limit in time is over: for the parent, which looks now and then, and for the child, which knows best.

struct TimeLimit {
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin, end;
  ProcessorUse at_begin = {}; ///< of the process

  /// True if the limit is over at `now`. `allow_for_load` is that of Limits. `use()` gives the ProcessorUse of the
  /// process by then, and is only called where that decides.
  template <typename Use> bool is_over(Clock::time_point now, bool allow_for_load, const Use &use) const {
    if (now < end)
      return false;
    return !allow_for_load || now - begin >= (end - begin) * most_for_load || load_is_no_excuse(now, use());
  }

private:
  static constexpr int most_for_load = 10;
  static constexpr double enough_of_it = 0.8;
  static constexpr double hardly_any = 0.04;

  bool load_is_no_excuse(Clock::time_point now, const ProcessorUse &use) const {
    const auto spent = use.spent - at_begin.spent, waited = use.waited - at_begin.waited;
    return spent >= (end - begin) * enough_of_it || spent + waited < (now - begin) * hardly_any;
  }
};

} // namespace repro_minify
