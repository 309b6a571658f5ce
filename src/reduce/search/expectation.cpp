#include "reduce/search/expectation.h"

#include <numeric>

namespace repro_minify {
namespace {

/// A model that fails in every block: how likely, before anything is known.
constexpr double share_everywhere = 0.05;
/// Of all that is expected, how much follows suspicion where there is any. The rest bounds what a wrong one costs:
/// about half a question here, one question after the first anchor.
constexpr double share_suspected_first = 0.3;
constexpr double share_suspected_next = 0.5;
/// Most failures need one node, or several that are connected.
constexpr double share_near = 0.7;
constexpr double share_near_after_far = 0.2;
constexpr double share_any_scale = 0.1;
constexpr double share_forgotten = 0.1;
/// An anchor that comes early in line confirms that distance matters, whatever the size of the rest.
constexpr std::size_t close_enough = 8;

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

/// As much between n and 2n for every n.
double any_scale(std::size_t length) {
  return 1 / static_cast<double>(length);
}

/// Of the last of 2^i nodes that are anywhere, at that fraction of the line.
double density_of_last(std::size_t i, double where) {
  double power = 1; // where^(2^i - 1)
  double factor = where;
  for (std::size_t bit = 0; bit < i; ++bit) {
    power *= factor;
    factor *= factor;
  }
  return static_cast<double>(std::size_t{1} << i) * power;
}

/// Half of it within the first three.
double nearby(std::size_t length) {
  const auto distance = static_cast<double>(length + 2);
  return 1 / (distance * (distance + 1));
}

/// Lets suspicion take `share` of what is expected. A prefix is the shortest failing one where its last node is needed.
void add_suspicion(std::vector<double> &mass, double share, const std::vector<double> &weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (total <= 0)
    return;
  for (std::size_t length = 1; length < mass.size(); ++length)
    mass[length] = (1 - share) * mass[length] + share * weights[length - 1] / total;
}

} // namespace

std::vector<double> expected_first(std::size_t nodes, const std::vector<double> &weights) {
  std::vector<double> mass(nodes + 1, 0);
  add_share(mass, 1 - share_everywhere, evenly);
  // What fails in every block of a repetitive model fails in the first already.
  add_share(mass, share_everywhere, any_scale);
  add_suspicion(mass, share_suspected_first, weights);
  return mass;
}

void Experience::learn(std::size_t length, std::size_t nodes) {
  ends_in_a_row = length == nodes ? ends_in_a_row + 1 : 0;
  if (length <= close_enough || length * 2 <= nodes) {
    far_in_a_row = 0;
    if (length <= close_enough)
      return;
  } else
    ++far_in_a_row;
  const double where = static_cast<double>(length) / static_cast<double>(nodes);
  double total = 0;
  for (std::size_t i = 0; i < scattered.size(); ++i)
    total += scattered[i] *= density_of_last(i, where);
  const Experience fresh;
  for (std::size_t i = 0; i < scattered.size(); ++i)
    scattered[i] = (1 - share_forgotten) * scattered[i] / total + share_forgotten * fresh.scattered[i];
}

std::vector<double> expected_next(std::size_t nodes, std::size_t anchors, const Experience &experience,
                                  const std::vector<double> &weights) {
  std::vector<double> mass(nodes + 1, 0);
  const double near_share = experience.far_in_a_row == 0 ? share_near : share_near_after_far;
  add_share(mass, near_share, nearby);
  add_share(mass, share_any_scale, any_scale);
  add_share(mass, 1 - near_share - share_any_scale, [&](std::size_t length) {
    const double where = static_cast<double>(length) / static_cast<double>(nodes);
    double density = 0;
    for (std::size_t i = 0; i < experience.scattered.size(); ++i)
      density += experience.scattered[i] * density_of_last(i, where);
    return density;
  });
  add_suspicion(mass, share_suspected_next, weights);
  mass[0] = 1 / static_cast<double>(anchors + 1);
  for (std::size_t length = 1; length < mass.size(); ++length)
    mass[length] *= 1 - mass[0];
  return mass;
}

} // namespace repro_minify
