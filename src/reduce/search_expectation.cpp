#include "reduce/search_expectation.h"

#include "core/dataflow.h"
#include "reduce/search_stages.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

/// A model that fails in every block: how likely, before anything is known.
constexpr double share_everywhere = 0.05;
/// The share of all that is expected that follows suspicion where there is any. The rest bounds what a wrong suspicion
/// costs: about half a question for the first anchor, one question after it.
constexpr double share_suspected_first = 0.3;
constexpr double share_suspected_next = 0.5;
/// Most failures need one node, or several that are connected. How likely it is that some lie elsewhere.
constexpr double share_scattered = 0.15;
/// Where nothing lies elsewhere: the odds that each anchor has another nearby, or somewhat further, against none; and
/// the same after an anchor that was far away.
constexpr double odds_near = 0.7;
constexpr double odds_further = 0.1;
constexpr double odds_near_after_far = 0.03;
constexpr double odds_further_after_far = 0.02;
/// One node is what most failures need.
constexpr double weight_of_one_anchor = 0.6;
/// Answers do not follow the model below to the letter. So much of what was learned is given up each time, for what
/// might be as well; of that, how likely it is that nothing more lies elsewhere.
constexpr double share_forgotten = 0.1;
constexpr double chance_of_none_anyway = 0.3;

/// Adds `share`, divided among lengths 1..n in proportion to `density(length)`.
template <typename Density> void add_share(std::vector<double> &mass, double share, Density density) {
  double total = 0;
  for (std::size_t length = 1; length < mass.size(); ++length)
    total += density(length);
  if (total > 0)
    for (std::size_t length = 1; length < mass.size(); ++length)
      mass[length] += share * density(length) / total;
}

double evenly(std::size_t) {
  return 1;
}

/// Gives as much to the lengths between n and 2n for every n.
double any_scale(std::size_t length) {
  return 1 / static_cast<double>(length);
}
/// The sum of any_scale over 1..n, nearly.
double total_any_scale(double nodes) {
  return std::log(nodes) + 0.5772 + 0.5 / nodes;
}

/// Half of it within the first three.
double nearby(std::size_t length) {
  const auto distance = static_cast<double>(length + 2);
  return 1 / (distance * (distance + 1));
}
/// The sum of nearby over 1..n.
double total_nearby(double nodes) {
  return 1.0 / 3 - 1 / (nodes + 3);
}

/// The fraction of a line that lies before its node number `length`, with half of that node.
double fraction(std::size_t length, std::size_t nodes) {
  return (static_cast<double>(length) - 0.5) / static_cast<double>(nodes);
}

/// Lets suspicion take `share` of what is expected. A prefix is the shortest failing one where its last node is needed.
void add_suspicion(std::vector<double> &mass, double share, const std::vector<double> &weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (total <= 0)
    return;
  for (std::size_t length = 1; length < mass.size(); ++length)
    mass[length] = (1 - share) * mass[length] + share * weights[length - 1] / total;
}

/// Small numbers are more likely than large ones, without a scale: as 1/n^2.
Experience::Counts expected_elsewhere(double none) {
  Experience::Counts result{};
  for (std::size_t count = 1; count < result.size(); ++count)
    result[count] = 1 / static_cast<double>(count * count);
  const double total = std::accumulate(result.begin(), result.end(), 0.0);
  for (double &chance : result)
    chance *= (1 - none) / total;
  result[0] = none;
  return result;
}

void normalise(Experience::Counts &counts) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (double &chance : counts)
    chance /= total;
}

/// Below this share of the line a slice is sorted, above it the whole line is walked.
constexpr std::size_t short_slice = 16;

} // namespace

std::vector<double> expected_first(std::size_t nodes, const std::vector<double> &weights) {
  std::vector<double> mass(nodes + 1, 0);
  add_share(mass, 1 - share_everywhere, evenly);
  // A failure that is in every block of a repetitive model shows in the first already.
  add_share(mass, share_everywhere, any_scale);
  add_suspicion(mass, share_suspected_first, weights);
  return mass;
}

Experience::Experience() : elsewhere_(expected_elsewhere(1 - share_scattered)) {}

void Experience::learn_first(std::size_t length, std::size_t nodes) {
  const double where = fraction(length, nodes);
  double power = 1; // where^count: all others come before this one
  for (std::size_t count = 0; count < elsewhere_.size(); ++count, power *= where)
    elsewhere_[count] *= static_cast<double>(count + 1) * power;
  normalise(elsewhere_);
}

Experience::Local Experience::local(std::size_t anchors) const {
  const double weight = anchors == 1 ? weight_of_one_anchor : static_cast<double>(anchors);
  const double near = weight * (last_was_far_ ? odds_near_after_far : odds_near);
  const double further = weight * (last_was_far_ ? odds_further_after_far : odds_further);
  const double total = 1 + near + further;
  return {1 / total, near / total, further / total};
}

void Experience::learn_next(std::size_t length, std::size_t nodes, std::size_t anchors) {
  ends_in_a_row = length == nodes ? ends_in_a_row + 1 : 0;
  const Local here = local(anchors);
  const auto total = static_cast<double>(nodes);
  Counts left{};
  left[0] = elsewhere_[0] * (here.near * nearby(length) / total_nearby(total) +
                             here.further * any_scale(length) / total_any_scale(total));
  const double was_local = left[0];
  double power = 1; // where^(count - 1)
  for (std::size_t count = 1; count < elsewhere_.size(); ++count, power *= fraction(length, nodes)) {
    const std::size_t others = count == most_elsewhere ? count : count - 1;
    left[others] += elsewhere_[count] * static_cast<double>(count) * power / total;
  }
  last_was_far_ = was_local < 0.5 * std::accumulate(left.begin(), left.end(), 0.0);
  normalise(left);
  static const Counts anyway = expected_elsewhere(chance_of_none_anyway);
  for (std::size_t count = 0; count < elsewhere_.size(); ++count)
    elsewhere_[count] = (1 - share_forgotten) * left[count] + share_forgotten * anyway[count];
}

std::vector<double> Experience::expected_next(std::size_t nodes, std::size_t anchors,
                                              const std::vector<double> &weights) const {
  std::vector<double> mass(nodes + 1, 0);
  const Local here = local(anchors);
  add_share(mass, elsewhere_[0] * here.near, nearby);
  add_share(mass, elsewhere_[0] * here.further, any_scale);
  add_share(mass, 1 - elsewhere_[0], [&](std::size_t length) {
    const double where = fraction(length, nodes);
    double density = 0; // the sum of count * where^(count - 1), by Horner's rule
    for (std::size_t count = most_elsewhere; count > 0; --count)
      density = density * where + static_cast<double>(count) * elsewhere_[count];
    return density;
  });
  mass[0] = elsewhere_[0] * here.none;
  const double more = 1 - mass[0];
  for (std::size_t length = 1; length < mass.size(); ++length)
    mass[length] /= more;
  add_suspicion(mass, share_suspected_next, weights);
  for (std::size_t length = 1; length < mass.size(); ++length)
    mass[length] *= more;
  return mass;
}

Lineup::Lineup(std::vector<int> order, IndexSet always, std::vector<double> mass)
    : order_(std::move(order)), always_(std::move(always)), mass_before_(mass.size() + 1, 0) {
  for (std::size_t length = 0; length < mass.size(); ++length)
    mass_before_[length + 1] = mass_before_[length] + mass[length];
  by_node_.reserve(order_.size() + always_.size());
  for (std::size_t position = 0; position < order_.size(); ++position)
    by_node_.emplace_back(order_[position], position);
  for (int node : always_)
    by_node_.emplace_back(node, every_position);
  std::sort(by_node_.begin(), by_node_.end());
}

std::vector<int> Lineup::nodes(std::size_t begin, std::size_t end) const {
  return {order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.begin() + static_cast<std::ptrdiff_t>(end)};
}

IndexSet Lineup::slice(std::size_t begin, std::size_t end) const {
  if ((end - begin) * short_slice < order_.size())
    return unite(sorted_set(nodes(begin, end)), always_);
  IndexSet result;
  result.reserve(end - begin + always_.size());
  for (const auto &[node, position] : by_node_)
    if (position == every_position || (begin <= position && position < end))
      result.push_back(node);
  return result;
}

double Lineup::mass(std::size_t shortest, std::size_t longest) const {
  return mass_before_[longest + 1] - mass_before_[shortest];
}

std::size_t Lineup::split(std::size_t shortest, std::size_t longest) const {
  const double middle = (mass_before_[shortest] + mass_before_[longest + 1]) / 2;
  const auto first = mass_before_.begin() + static_cast<std::ptrdiff_t>(shortest) + 1;
  const auto last = mass_before_.begin() + static_cast<std::ptrdiff_t>(longest);
  // The first boundary at or after the middle, unless the one before is nearer.
  auto boundary = std::lower_bound(first, last, middle);
  if (boundary != first && middle - *(boundary - 1) < *boundary - middle)
    --boundary;
  return static_cast<std::size_t>(std::min(boundary, last) - mass_before_.begin()) - 1;
}

Lineup Lineup::narrowed(std::size_t length, const IndexSet &kept) const {
  std::vector<int> order;
  std::vector<double> masses{mass(0, 0)};
  for (std::size_t position = 0; position < length; ++position)
    if (std::binary_search(kept.begin(), kept.end(), order_[position])) {
      order.push_back(order_[position]);
      masses.push_back(mass(position + 1, position + 1));
    }
  return Lineup(std::move(order), always_, std::move(masses));
}

} // namespace repro_minify
