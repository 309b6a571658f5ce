// From the anchors outwards. The anchors with the rest fail; the rest is put in order of distance from the anchors,
// since what a failure needs is mostly close together. The shortest part of that order which fails together with the
// anchors ends in the next anchor, and what comes after it can go.
#include "reduce/search/bracket.h"
#include "reduce/search/index_sets.h"
#include "reduce/search/stages.h"

#include <algorithm>
#include <utility>

namespace repro_minify {
namespace {

constexpr double chance_of_near = 0.3;
/// The gallop ends here: beyond, halving the whole rest costs no more and gets small sooner.
constexpr std::size_t near_hops = 32;
/// An anchor that comes early in the order confirms that distance matters, whatever the size of the rest.
constexpr std::size_t close_enough = 8;
constexpr std::size_t many_anchors = 6;
constexpr int many_far_in_a_row = 3;

/// The rest by distance from the anchors; at equal distance the last in topological order first, since anchors are
/// found from the end.
NodeOrder by_distance(const GrowAnchors &stage, const SearchContext &context) {
  const std::vector<int> distance = context.dataflow.undirected_distances(stage.anchors, stage.rest);
  std::vector<int> order = stage.rest;
  std::sort(order.begin(), order.end(), [&](int left, int right) {
    const auto l = static_cast<std::size_t>(left), r = static_cast<std::size_t>(right);
    return std::pair(distance[l], -context.rank[l]) < std::pair(distance[r], -context.rank[r]);
  });
  return NodeOrder(std::move(order), stage.anchors);
}

/// Doubles the length as long as it stays near: where the next anchor is close, this costs less than halving the whole.
void gallop(Bracket &bracket, Questioner &questioner) {
  for (std::size_t length = 1; length < bracket.order.size() && length <= near_hops; length *= 2) {
    if (questioner.fails(bracket.order.prefix(length), chance_of_near)) {
      bracket.failing = length;
      return;
    }
    bracket.passing = length;
  }
}

Stage give_up_locality(const GrowAnchors &stage) {
  IndexSet kept = unite(stage.anchors, stage.rest);
  const double needed = static_cast<double>(std::max<std::size_t>(stage.anchors.size(), 3));
  const double first_chance = needed / static_cast<double>(stage.rest.size());
  std::vector<int> tries(kept.size(), 0);
  return DeleteScattered{std::move(kept), std::move(tries), first_chance};
}

} // namespace

Stage advance(const GrowAnchors &stage, const SearchContext &context, Questioner &questioner) {
  if (stage.rest.empty() || questioner.fails(stage.anchors, chance_of_near))
    return Certify{stage.anchors};
  if (stage.anchors.size() > many_anchors || stage.far_in_a_row >= many_far_in_a_row)
    return give_up_locality(stage);
  Bracket bracket{by_distance(stage, context), 0, stage.rest.size()};
  if (stage.far_in_a_row == 0)
    gallop(bracket, questioner);
  close(bracket, context.dataflow, questioner);
  const IndexSet anchor{bracket.order.at(bracket.failing - 1)};
  const bool far = bracket.failing > close_enough && bracket.failing * 2 > stage.rest.size();
  return GrowAnchors{unite(stage.anchors, anchor), subtract(bracket.order.prefix(bracket.failing - 1), stage.anchors),
                     far ? stage.far_in_a_row + 1 : 0};
}

} // namespace repro_minify
