// The time limit of the next check, from what earlier ones took: a hopeless candidate need not be waited for as long as
// the original might have taken.
#pragma once
#include "repro_minify/sandbox.h"

#include <algorithm>
#include <chrono>

namespace repro_minify {

class LearnedTimeout {
public:
  /// `most` is the limit to begin with; 0: there is none, and nothing is learnt. Nothing is learnt either with
  /// `hang_is_wanted`, where a hang may be the failure that is looked for: the limit is then what makes a hang of a
  /// candidate, and has to be the same for each of them.
  LearnedTimeout(std::chrono::milliseconds most, bool hang_is_wanted) : most_(most), hang_is_wanted_(hang_is_wanted) {}

  /// A check that came to its end by itself.
  void saw(std::chrono::duration<double> wall) {
    longest_ = std::max(longest_, std::chrono::duration_cast<std::chrono::milliseconds>(wall));
    ++seen_;
  }

  std::chrono::milliseconds limit() const {
    if (most_.count() == 0 || hang_is_wanted_ || seen_ < enough)
      return most_;
    return std::min(most_, std::max(floor, longest_ * generosity));
  }

  /// The limit that decides. A check that a shorter one ended says nothing, and is made again under this one.
  std::chrono::milliseconds full() const { return most_; }

private:
  static constexpr int enough = 5;
  static constexpr int generosity = 20;
  /// A busy machine may stand still for a while.
  static constexpr std::chrono::milliseconds floor{3000};

  std::chrono::milliseconds most_;
  bool hang_is_wanted_;
  std::chrono::milliseconds longest_{0};
  int seen_ = 0;
};

} // namespace repro_minify
