#include "reduce/search_stages.h"

#include "planted_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace repro_minify {
namespace {

using namespace planted;

TEST(Repeats, ColoursTellApartWhatLooksDifferent) {
  // 0 -> 1 -> 2 -> 3 -> 4, all of one kind: only the ends and their neighbours differ from the middle.
  const Dataflow chain(7, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}});
  const std::vector<std::string> same(7, "relu");
  const auto kinds = [&](int rounds) {
    const auto colours = structural_colours(chain, same, rounds);
    return std::set<std::uint64_t>(colours.begin(), colours.end()).size();
  };
  EXPECT_EQ(kinds(0), 1u);
  EXPECT_EQ(kinds(1), 3u);
  EXPECT_EQ(kinds(2), 5u);
  auto labels = same;
  labels[3] = "gelu";
  const auto colours = structural_colours(chain, labels, 1);
  EXPECT_NE(colours[2], colours[4]) << "who reads and who makes is not the same";
}

TEST(Repeats, ColoursDoNotDependOnTheNumbering) {
  const Dataflow one(4, {{0, 2}, {1, 2}, {2, 3}}), other(4, {{3, 1}, {2, 1}, {1, 0}});
  const auto left = structural_colours(one, {"a", "b", "add", "out"}, 2);
  const auto right = structural_colours(other, {"out", "add", "b", "a"}, 2);
  EXPECT_EQ(left, (std::vector<std::uint64_t>{right[3], right[2], right[1], right[0]}));
}

TEST(Repeats, OneOfEachHoldsEveryNeighbourhood) {
  const Model model = transformer(2000);
  const IndexSet all = everything(model.dataflow.size());
  const IndexSet examples = one_of_each_repeat(model.dataflow, model.kinds, all);
  EXPECT_LT(examples.size(), 150u);
  const auto colours = structural_colours(model.dataflow, model.kinds, 2);
  std::set<std::uint64_t> of_all(colours.begin(), colours.end()), of_examples;
  for (int node : examples)
    of_examples.insert(colours[static_cast<std::size_t>(node)]);
  EXPECT_EQ(of_examples, of_all);
}

TEST(Repeats, OneOfEachStaysInsideAndTakesTheFirst) {
  // Two equal pairs beside each other; the first is outside.
  const Dataflow dataflow(6, {{0, 1}, {2, 3}, {4, 5}});
  const std::vector<std::string> labels{"a", "b", "a", "b", "a", "b"};
  EXPECT_EQ(one_of_each_repeat(dataflow, labels, {2, 3, 4, 5}), (IndexSet{2, 3}));
  EXPECT_EQ(one_of_each_repeat(dataflow, labels, {}), IndexSet{});
}

} // namespace
} // namespace repro_minify
