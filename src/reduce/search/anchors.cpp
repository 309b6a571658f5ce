// From one anchor to the next. The anchors with the rest fail; the rest is put in line by distance from the anchors,
// since what a failure needs is mostly close together.
#include "reduce/search/expectation.h"
#include "reduce/search/index_sets.h"
#include "reduce/search/stages.h"

#include <algorithm>
#include <utility>

namespace repro_minify {
namespace {

constexpr std::size_t many_anchors = 1000;
/// Windows that failed to hold all that is needed, before no more are tried.
constexpr int many_places = 2;

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
  if (rest.empty())
    return Certify{anchors};
  if (anchors.size() > many_anchors)
    return give_up_locality(anchors, rest);
  std::vector<int> order = by_distance(anchors, rest, context);
  std::vector<double> mass = expected_next(rest.size(), anchors.size(), experience, weights_of(order, context));
  auto line = std::make_shared<const Lineup>(std::move(order), anchors, std::move(mass));
  FindAnchor next{std::move(line), -1, rest.size(), -1};
  next.experience = experience;
  if (experience.places >= many_places)
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
  if (!stage.line->always().empty())
    experience.learn(stage.failing, stage.line->size());
  return find_next_anchor(anchors, rest, experience, context);
}

} // namespace repro_minify
