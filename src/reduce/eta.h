// How long a reduction will take still: the calls that remain times what one costs.
#pragma once
#include <optional>

namespace repro_minify {

/// Fits c0 + c1 * size to the checks seen so far (least squares).
class CostModel {
public:
  void saw(double size, double seconds);
  /// Seconds that one check of a program of this size takes; nothing before three were seen.
  std::optional<double> seconds_for(double size) const;

private:
  double count_ = 0, sizes_ = 0, seconds_ = 0, size_squares_ = 0, products_ = 0;
};

/// About how many checks a program of `operators` operators needs until `open_passes` passes have found nothing more:
/// two bisections, then a few for each pass and each operator that will be left.
double expected_calls(int operators, int open_passes);

} // namespace repro_minify
