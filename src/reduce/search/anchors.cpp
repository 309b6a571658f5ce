// From one anchor to the next. The anchors with the rest fail; the rest is put in line by distance from the anchors,
// since what a failure needs is mostly close together.
#include "reduce/search/expectation.h"
#include "reduce/search/index_sets.h"
#include "reduce/search/stages.h"

#include <algorithm>
#include <utility>
#include <cstdlib>

namespace repro_minify {
namespace {
double par(const char *n, double d) { const char *v = std::getenv(n); return v ? std::atof(v) : d; }

/// An anchor that comes early in line confirms that distance matters, whatever the size of the rest.
constexpr std::size_t close_enough = 8;
constexpr std::size_t many_anchors = 6;
constexpr int many_far_in_a_row = 3;

std::vector<double> weights_of(const std::vector<int> &order, const SearchContext &context) {
  const std::vector<double> &weights = context.options.weights;
  std::vector<double> result;
  if (weights.empty())
    return result;
  result.reserve(order.size());
  for (int node : order)
    result.push_back(weights[static_cast<std::size_t>(node)]);
  return result;
}

/// The rest by distance from the anchors; at equal distance the last in topological order first, since anchors are
/// found from the end.
std::vector<int> by_distance(const IndexSet &anchors, const IndexSet &rest, const SearchContext &context) {
  const std::vector<int> distance = context.dataflow.undirected_distances(anchors, rest);
  std::vector<int> order = rest;
  std::sort(order.begin(), order.end(), [&](int left, int right) {
    const auto l = static_cast<std::size_t>(left), r = static_cast<std::size_t>(right);
    return std::pair(distance[l], -context.rank[l]) < std::pair(distance[r], -context.rank[r]);
  });
  return order;
}

Stage give_up_locality(const IndexSet &anchors, const IndexSet &rest) {
  IndexSet kept = unite(anchors, rest);
  const double needed = static_cast<double>(std::max<std::size_t>(anchors.size(), 3));
  const double first_chance = needed / static_cast<double>(rest.size());
  std::vector<int> tries(kept.size(), 0);
  return DeleteScattered{std::move(kept), std::move(tries), first_chance};
}

Stage find_next_anchor(const IndexSet &anchors, const IndexSet &rest, const Experience &experience,
                       const SearchContext &context) {
  static const int MANYA=(int)par("MANYA",6), MANYF=(int)par("MANYF",3), LONE=(int)par("LONE",2);
  if (rest.empty())
    return Certify{anchors};
  if (static_cast<int>(anchors.size()) > MANYA || experience.far_in_a_row >= MANYF)
    return give_up_locality(anchors, rest);
  std::vector<int> order = by_distance(anchors, rest, context);
  std::vector<double> mass =
      expected_next(rest.size(), anchors.size(), experience.far_in_a_row == 0, weights_of(order, context));
  auto line = std::make_shared<const Lineup>(std::move(order), anchors, std::move(mass));
  FindAnchor next{std::move(line), -1, rest.size(), -1};
  next.experience = experience;
  if (experience.lone_windows >= LONE)
    next.place = FindAnchor::Place::Several;
  return next;
}

} // namespace

Stage find_first_anchor(const IndexSet &kept, const SearchContext &context) {
  if (kept.size() < 2)
    return Certify{kept};
  std::vector<int> order = kept;
  std::sort(order.begin(), order.end(), [&](int left, int right) {
    return context.rank[static_cast<std::size_t>(left)] < context.rank[static_cast<std::size_t>(right)];
  });
  std::vector<double> mass = expected_first(kept.size(), weights_of(order, context));
  // Whether nothing at all fails is not asked here: only the certificate may propose the empty set.
  return FindAnchor{std::make_shared<const Lineup>(std::move(order), IndexSet{}, std::move(mass)), 0, kept.size(), 0};
}

Stage after_anchor(const FindAnchor &stage, const SearchContext &context) {
  if (stage.failing == 0)
    return Certify{stage.line->always()};
  const IndexSet anchors = unite(stage.line->always(), {stage.line->at(stage.failing - 1)});
  const IndexSet rest = sorted_set(stage.line->nodes(0, stage.failing - 1));
  Experience experience = stage.experience;
  const bool far = !stage.line->always().empty() && stage.failing > close_enough && stage.failing * 2 > stage.line->size();
  experience.far_in_a_row = far ? experience.far_in_a_row + 1 : 0;
  return find_next_anchor(anchors, rest, experience, context);
}

} // namespace repro_minify
