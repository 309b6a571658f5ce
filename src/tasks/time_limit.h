// When a limit in time is over: for the parent, which looks now and then, and for the child, which knows best.
#pragma once
#include "tasks/processor_use.h"

#include <chrono>

namespace repro_minify {

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
