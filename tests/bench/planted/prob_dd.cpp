// ProbDD: every element has a probability of being needed. Leave out the elements whose absence promises the largest
// gain; if the failure goes away, one of them is needed, and Bayes' rule says how much likelier each now is.
#include "bench/planted/tools.h"

#include <algorithm>
#include <utility>

namespace repro_minify::bench {
namespace {

struct Element {
  double needed;
  int node;
  bool operator<(const Element &other) const { return std::pair(needed, node) < std::pair(other.needed, other.node); }
};

/// How many of the elements, the least likely to be needed first, to leave out for the largest expected gain.
std::size_t best_group(const std::vector<Element> &sorted, double &none_needed) {
  std::size_t best = 0;
  double best_gain = 0, chance = 1;
  for (std::size_t size = 1; size <= sorted.size(); ++size) {
    chance *= 1 - sorted[size - 1].needed;
    const double gain = static_cast<double>(size) * chance;
    if (gain <= best_gain)
      break;
    best = size;
    best_gain = gain;
    none_needed = chance;
  }
  return best;
}

IndexSet nodes_from(const std::vector<Element> &elements, std::size_t begin) {
  IndexSet nodes;
  for (std::size_t i = begin; i < elements.size(); ++i)
    nodes.push_back(elements[i].node);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// `group` are the first elements; they keep their order among themselves, and move back to where they now belong.
void raise(std::vector<Element> &sorted, std::size_t group, double none_needed) {
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(group);
  for (auto element = sorted.begin(); element != end; ++element)
    element->needed = group == 1 ? 1 : std::min(1.0, element->needed / (1 - none_needed));
  std::inplace_merge(sorted.begin(), end, sorted.end());
}

} // namespace

IndexSet prob_dd(const IndexSet &all, const Fails &fails, double first) {
  std::vector<Element> sorted;
  for (int node : all)
    sorted.push_back({first, node});
  for (;;) {
    double none_needed = 1;
    const std::size_t group = best_group(sorted, none_needed);
    if (group == 0)
      return nodes_from(sorted, 0);
    const IndexSet kept = nodes_from(sorted, group);
    if (!kept.empty() && fails(kept))
      sorted.erase(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(group));
    else
      raise(sorted, group, none_needed);
  }
}

} // namespace repro_minify::bench
