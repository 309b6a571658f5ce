#include "reduce/questions/eta.h"

#include "repro_minify/seconds_left.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace repro_minify {
namespace {

/// How much of what it weighed before an observation weighs after the next one.
constexpr double kept_each_time = 0.93;

/// The middle of a wider range may be off by more than three times, which is no help for a plan.
constexpr double too_far_apart = 9;

} // namespace

void CostModel::saw(double size, double seconds) {
  for (double *sum : {&weight_, &sizes_, &seconds_, &size_squares_, &products_})
    *sum *= kept_each_time;
  ++seen_;
  weight_ += 1;
  sizes_ += size;
  seconds_ += seconds;
  size_squares_ += size * size;
  products_ += size * seconds;
}

std::optional<double> CostModel::seconds_for(double size) const {
  if (seen_ < 3)
    return std::nullopt;
  const double spread = weight_ * size_squares_ - sizes_ * sizes_;
  // All of one size, or larger ones were faster by accident: the mean says as much.
  const double slope =
      spread > 1e-9 * weight_ * size_squares_ ? std::max(0.0, (weight_ * products_ - sizes_ * seconds_) / spread) : 0;
  const double fixed = std::max(0.0, (seconds_ - slope * sizes_) / weight_);
  return fixed + slope * size;
}

std::optional<SecondsLeft> sensible_range(const std::vector<double> &forecasts) {
  if (forecasts.empty())
    return std::nullopt;
  const auto [least, most] = std::minmax_element(forecasts.begin(), forecasts.end());
  if (*least <= 0 || *most > *least * too_far_apart)
    return std::nullopt;
  return SecondsLeft{*least, *most};
}

} // namespace repro_minify
