// How many steps the dataflow view of a large program takes: hardly more than twice as many for twice the nodes.
#include "core/dataflow.h"
#include "counter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

/// A chain in which each node also reads one far behind it.
struct Chain {
  explicit Chain(int size) : size(size), nodes{0} {
    for (int node = 1; node < size; ++node) {
      edges.emplace_back(node - 1, node);
      edges.emplace_back(node / 2, node);
      nodes.push_back(node);
    }
  }

  int size;
  std::vector<std::pair<int, int>> edges;
  IndexSet nodes;
};

void expect_linear(void (*work)(const Chain &)) {
  const Chain small(10000), large(20000);
  const std::uint64_t few = steps_of([&] { work(small); }), many = steps_of([&] { work(large); });
  EXPECT_GT(few, 10000U) << "nothing is counted";
  EXPECT_LT(many, 5 * few / 2) << few; // sorting makes it a little more than twice
}

TEST(DataflowSteps, OfBuildingIt) {
  expect_linear([](const Chain &chain) {
    const Dataflow dataflow(chain.size, chain.edges);
    EXPECT_EQ(dataflow.topological_order(), chain.nodes);
  });
}

TEST(DataflowSteps, OfDistances) {
  expect_linear([](const Chain &chain) {
    const Dataflow dataflow(chain.size, chain.edges);
    for (int repeat = 0; repeat < 20; ++repeat)
      EXPECT_EQ(dataflow.undirected_distances({chain.size - 1}, chain.nodes).back(), 0);
  });
}

} // namespace
} // namespace repro_minify
