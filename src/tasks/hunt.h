// How long the processes that a check has left behind are hunted.
#pragma once
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

namespace repro_minify {

class Hunt {
public:
  using Clock = std::chrono::steady_clock;

  explicit Hunt(Clock::time_point begin) : begin_(begin) {}

  /// `left`: the processes that are there now, and will be killed. False if none is, or the hunt is given up: early
  /// where others keep coming, as what forks faster than it is killed is left to the next start; late where all of them
  /// were killed before, as on a busy machine they wait for a processor to die on.
  bool goes_on(const std::vector<pid_t> &left, Clock::time_point now) {
    const bool others_came =
        std::count_if(left.begin(), left.end(), [this](pid_t process) { return killed_.insert(process).second; }) > 0;
    return !left.empty() && now - begin_ < (others_came ? longest_among_others : longest_for_the_dying);
  }

private:
  static constexpr auto longest_among_others = std::chrono::seconds(2),
                        longest_for_the_dying = std::chrono::seconds(20);

  Clock::time_point begin_;
  std::set<pid_t> killed_;
};

} // namespace repro_minify
