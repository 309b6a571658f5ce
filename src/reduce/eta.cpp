#include "reduce/eta.h"

#include <algorithm>
#include <cmath>

namespace repro_minify {

void CostModel::saw(double size, double seconds) {
  count_ += 1;
  sizes_ += size;
  seconds_ += seconds;
  size_squares_ += size * size;
  products_ += size * seconds;
}

std::optional<double> CostModel::seconds_for(double size) const {
  if (count_ < 3)
    return std::nullopt;
  const double spread = count_ * size_squares_ - sizes_ * sizes_;
  // All of one size, or larger ones were faster by accident: the mean says as much.
  const double slope = spread > 0 ? std::max(0.0, (count_ * products_ - sizes_ * seconds_) / spread) : 0;
  const double fixed = std::max(0.0, (seconds_ - slope * sizes_) / count_);
  return fixed + slope * size;
}

double expected_calls(int operators, int open_passes) {
  constexpr double usually_left = 4;
  const double left = std::min<double>(operators, usually_left);
  return 2 * std::log2(1.0 + std::max(0, operators)) + open_passes * (1 + left / 2);
}

} // namespace repro_minify
