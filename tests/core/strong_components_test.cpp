#include "core/dataflow.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

TEST(StrongComponents, AreSingleNodesOfAGraphWithoutCycles) {
  EXPECT_EQ(strong_components(3, {{0, 1}, {1, 2}, {0, 2}}), (std::vector<int>{0, 1, 2}));
}

TEST(StrongComponents, AreNumberedByTheirFirstNode) {
  // 1 -> 3 -> 4 -> 1 is a cycle that 0 leads to and that leads to 2.
  EXPECT_EQ(strong_components(5, {{0, 1}, {1, 3}, {3, 4}, {4, 1}, {4, 2}}), (std::vector<int>{0, 1, 2, 1, 1}));
}

TEST(StrongComponents, KeepTwoCyclesApartThatOneEdgeJoins) {
  EXPECT_EQ(strong_components(4, {{0, 1}, {1, 0}, {1, 2}, {2, 3}, {3, 2}}), (std::vector<int>{0, 0, 1, 1}));
}

TEST(StrongComponents, OfNothingAreNone) {
  EXPECT_TRUE(strong_components(0, {}).empty());
}

} // namespace
} // namespace repro_minify
