#include "core/dataflow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

TEST(Dominators, OfAChainAreTheNodesBefore) {
  EXPECT_EQ(immediate_dominators(Dataflow(4, {{0, 1}, {1, 2}, {2, 3}})), (std::vector<int>{no_dominator, 0, 1, 2}));
  EXPECT_TRUE(immediate_dominators(Dataflow(0, {})).empty());
}

TEST(Dominators, SkipABranchThatMeetsAgain) {
  // A residual block: 0 -> 1 -> 2 -> 3 and 0 -> 3, then 3 -> 4.
  EXPECT_EQ(immediate_dominators(Dataflow(5, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {3, 4}})),
            (std::vector<int>{no_dominator, 0, 1, 0, 3}));
}

TEST(Dominators, AreNoneWhereSeveralBeginningsMeet) {
  EXPECT_EQ(immediate_dominators(Dataflow(4, {{0, 2}, {1, 2}, {2, 3}})),
            (std::vector<int>{no_dominator, no_dominator, no_dominator, 2}));
}

/// True if `node` can be reached from a node without producers when `without` is gone.
bool reachable(const Dataflow &dataflow, int node, int without) {
  if (node == without)
    return false;
  const IndexSet &producers = dataflow.producers(node);
  return producers.empty() || std::any_of(producers.begin(), producers.end(),
                                          [&](int producer) { return reachable(dataflow, producer, without); });
}

TEST(Dominators, AgreeWithTheirDefinitionOnRandomGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    const int size = 10;
    std::vector<std::pair<int, int>> edges;
    for (int to = 1; to < size; ++to)
      for (int count = static_cast<int>(random() % 3); count > 0; --count)
        edges.emplace_back(static_cast<int>(random() % static_cast<unsigned>(to)), to);
    const Dataflow dataflow(size, edges);
    const auto found = immediate_dominators(dataflow);
    for (int node = 0; node < size; ++node) {
      // Index order is topological here, and of two dominators the later one is nearer.
      int expected = no_dominator;
      for (int candidate = 0; candidate < node; ++candidate)
        if (!reachable(dataflow, node, candidate))
          expected = candidate;
      EXPECT_EQ(found[static_cast<std::size_t>(node)], expected) << "round " << round << ", node " << node;
    }
  }
}

} // namespace
} // namespace repro_minify
