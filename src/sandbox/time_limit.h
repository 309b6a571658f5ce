// When a limit in time is over: for the parent, which looks now and then, and for the child, which knows best.
#pragma once
#include <chrono>

namespace repro_minify {

struct TimeLimit {
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin, end;
  std::chrono::nanoseconds processor{0}; ///< what the process had spent on processors at the begin

  /// Whether it is over at `now`. `allow_for_load`: as of Limits. `spent()`: what the process has spent on processors
  /// by then; only called where that decides.
  template <typename Spent> bool is_over(Clock::time_point now, bool allow_for_load, const Spent &spent) const {
    if (now < end)
      return false;
    return !allow_for_load || now - begin >= (end - begin) * most_for_load || load_is_no_excuse(now, spent());
  }

private:
  static constexpr int most_for_load = 10;
  static constexpr double enough_of_it = 0.8;
  static constexpr double hardly_any = 0.04;

  bool load_is_no_excuse(Clock::time_point now, std::chrono::nanoseconds spent) const {
    return spent - processor >= (end - begin) * enough_of_it || spent - processor < (now - begin) * hardly_any;
  }
};

} // namespace repro_minify
