// The smallest failing prefix in topological order ends in a node that is needed: the first anchor.
#include "reduce/search/bracket.h"
#include "reduce/search/stages.h"

#include <algorithm>
#include <utility>

namespace repro_minify {

Stage advance(const BisectPrefix &stage, const SearchContext &context, Questioner &questioner) {
  if (stage.kept.size() < 2)
    return Certify{stage.kept};
  std::vector<int> order = stage.kept;
  std::sort(order.begin(), order.end(), [&](int left, int right) {
    return context.rank[static_cast<std::size_t>(left)] < context.rank[static_cast<std::size_t>(right)];
  });
  // Whether nothing at all fails is not asked here: only the certificate may propose the empty set.
  Bracket bracket{NodeOrder(std::move(order)), 0, stage.kept.size()};
  close(bracket, context.dataflow, questioner);
  return GrowAnchors{{bracket.order.at(bracket.failing - 1)}, bracket.order.prefix(bracket.failing - 1)};
}

} // namespace repro_minify
