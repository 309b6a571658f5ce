// The time that a check of a program of some size takes, and the range of several forecasts of a sum of such times.
#pragma once
#include "repro_minify/seconds_left.h"

#include <optional>
#include <vector>

namespace repro_minify {

/// Fits c0 + c1 * size to the checks seen so far (least squares), the last ones most: programs that have got small take
/// about the same, whatever large ones took.
class CostModel {
public:
  void saw(double size, double seconds);
  /// Seconds that one check of a program of this size takes; nothing before three were seen.
  std::optional<double> seconds_for(double size) const;

private:
  int seen_ = 0;
  double weight_ = 0, sizes_ = 0, seconds_ = 0, size_squares_ = 0, products_ = 0;
};

/// The ends of what was foretold, nothing where they are too far apart for anybody to plan with.
std::optional<SecondsLeft> sensible_range(const std::vector<double> &forecasts);

} // namespace repro_minify
