// The time limit of the next check, from what earlier ones took: a hopeless candidate need not be waited for as long as
// the original might have taken.
#pragma once
#include "sandbox/sandbox.h"

#include <algorithm>
#include <chrono>

namespace repro_minify {

class LearnedTimeout {
public:
  /// `most` is the limit to begin with, and never exceeded; without one nothing is learnt. `learns` is false where a
  /// hang may be the failure that is looked for: a slow candidate must not be taken for one.
  LearnedTimeout(std::chrono::milliseconds most, bool learns) : most_(most), learns_(learns) {}

  /// A check that came to its end by itself.
  void saw(std::chrono::duration<double> wall) {
    longest_ = std::max(longest_, std::chrono::duration_cast<std::chrono::milliseconds>(wall));
    ++seen_;
  }

  std::chrono::milliseconds limit() const {
    if (!learns_ || seen_ < enough || most_.count() == 0)
      return most_;
    return std::min(most_, std::max(floor, longest_ * generosity));
  }

private:
  static constexpr int enough = 5;
  static constexpr int generosity = 20;
  /// A busy machine may stand still for a while.
  static constexpr std::chrono::milliseconds floor{3000};

  std::chrono::milliseconds most_;
  bool learns_;
  std::chrono::milliseconds longest_{0};
  int seen_ = 0;
};

} // namespace repro_minify
