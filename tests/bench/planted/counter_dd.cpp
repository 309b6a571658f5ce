// CDD: ProbDD's probabilities grow in steps that are almost the same for all, so that a counter of rounds does as well.
// Each round leaves out groups of one size; the sizes shrink by 1 - 1/e until the groups are single elements.
#include "bench/planted/tools.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace repro_minify::bench {
namespace {

/// The s with the largest s * (1 - p)^s, where p is what `first` has grown to after that many rounds.
std::size_t group_size(double first, int round) {
  const double needed = std::min(first / std::pow(1 - 1 / std::numbers::e, round), 0.999);
  return static_cast<std::size_t>(std::max(1.0, std::round(-1 / std::log1p(-needed))));
}

} // namespace

IndexSet counter_dd(const IndexSet &all, const Fails &fails, double first) {
  IndexSet kept = all;
  for (int round = 0;; ++round) {
    const std::size_t size = std::min(group_size(first, round), kept.size());
    for (std::size_t begin = 0; begin < kept.size();) {
      const std::size_t end = std::min(begin + size, kept.size());
      IndexSet others = without(kept, begin, end);
      if (!others.empty() && fails(others))
        kept = std::move(others);
      else
        begin = end;
    }
    if (size <= 1)
      return kept;
  }
}

} // namespace repro_minify::bench
