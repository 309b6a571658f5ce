#include "core/dataflow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

/// 0 -> 1 -> 3, 0 -> 2 -> 3, and 4 -> 5 on its own.
Dataflow diamond_and_pair() {
  return Dataflow(6, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {4, 5}});
}

bool respects(const std::vector<int> &order, const Dataflow &dataflow) {
  std::vector<int> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    position[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  for (int node = 0; node < dataflow.size(); ++node)
    for (int producer : dataflow.producers(node))
      if (position[static_cast<std::size_t>(producer)] >= position[static_cast<std::size_t>(node)])
        return false;
  return true;
}

TEST(Dataflow, KnowsNeighboursOnceEach) {
  const Dataflow dataflow(3, {{2, 0}, {1, 0}, {2, 0}});
  EXPECT_EQ(dataflow.size(), 3);
  EXPECT_EQ(dataflow.producers(0), (IndexSet{1, 2}));
  EXPECT_EQ(dataflow.consumers(2), IndexSet{0});
  EXPECT_EQ(dataflow.consumers(0), IndexSet{});
  EXPECT_THROW(dataflow.producers(3), std::out_of_range);
}

TEST(Dataflow, RefusesWhatIsNoDataflow) {
  EXPECT_THROW(Dataflow(-1, {}), std::invalid_argument);
  EXPECT_THROW(Dataflow(2, {{0, 2}}), std::invalid_argument);
  EXPECT_THROW(Dataflow(2, {{-1, 0}}), std::invalid_argument);
  EXPECT_THROW(Dataflow(2, {{1, 1}}), std::invalid_argument);
  EXPECT_THROW(Dataflow(3, {{0, 1}, {1, 2}, {2, 0}}), std::invalid_argument);
}

TEST(Dataflow, MayBeEmpty) {
  const Dataflow dataflow(0, {});
  EXPECT_EQ(dataflow.size(), 0);
  EXPECT_TRUE(dataflow.topological_order().empty());
  EXPECT_TRUE(dataflow.ball({}, 3, {}).empty());
}

TEST(Dataflow, KeepsAnIndexOrderThatIsAlreadyLegal) {
  EXPECT_EQ(diamond_and_pair().topological_order(), (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(Dataflow, PutsProducersFirst) {
  const Dataflow reversed(4, {{3, 2}, {2, 1}, {1, 0}});
  EXPECT_EQ(reversed.topological_order(), (std::vector<int>{3, 2, 1, 0}));

  std::mt19937_64 random(7);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<int> name(40);
    for (int i = 0; i < 40; ++i)
      name[static_cast<std::size_t>(i)] = i;
    std::shuffle(name.begin(), name.end(), random);
    std::vector<std::pair<int, int>> edges;
    for (std::size_t reader = 1; reader < name.size(); ++reader)
      for (int i = 0; i < 3; ++i)
        edges.emplace_back(name[random() % reader], name[reader]);
    const Dataflow dataflow(40, edges);
    EXPECT_TRUE(respects(dataflow.topological_order(), dataflow));
  }
}

TEST(Dataflow, MeasuresHopsInEitherDirection) {
  const Dataflow dataflow = diamond_and_pair();
  const int unreachable = dataflow.size();
  EXPECT_EQ(dataflow.undirected_distances({1}, {0, 1, 2, 3, 4, 5}),
            (std::vector<int>{1, 0, 2, 1, unreachable, unreachable}));
  EXPECT_EQ(dataflow.undirected_distances({1, 5}, {0, 1, 2, 3, 4, 5}), (std::vector<int>{1, 0, 2, 1, 1, 0}));
}

TEST(Dataflow, WalksOnlyInsideAndFrom) {
  const Dataflow dataflow(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  EXPECT_EQ(dataflow.undirected_distances({0}, {1, 3, 4}), (std::vector<int>{0, 1, 5, 5, 5}));
  EXPECT_EQ(dataflow.undirected_distances({2}, {}), (std::vector<int>{5, 5, 0, 5, 5}));
  EXPECT_EQ(dataflow.undirected_distances({}, {0, 1}), (std::vector<int>{5, 5, 5, 5, 5}));
  EXPECT_THROW(dataflow.undirected_distances({5}, {}), std::out_of_range);
}

TEST(Dataflow, CutsOutBalls) {
  const Dataflow dataflow(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  const IndexSet all{0, 1, 2, 3, 4};
  EXPECT_EQ(dataflow.ball({2}, 0, all), IndexSet{2});
  EXPECT_EQ(dataflow.ball({2}, 1, all), (IndexSet{1, 2, 3}));
  EXPECT_EQ(dataflow.ball({2}, 1, {0, 1}), (IndexSet{1, 2}));
  EXPECT_EQ(dataflow.ball({0, 4}, 1, all), (IndexSet{0, 1, 3, 4}));
  EXPECT_EQ(diamond_and_pair().ball({4}, 100, {0, 1, 2, 3, 4, 5}), (IndexSet{4, 5})) << "unreachable is never inside";
}

std::string dot(const Dataflow &dataflow, const std::vector<std::string> &labels, const IndexSet &marked = {}) {
  std::ostringstream out;
  dataflow.write_graphviz(out, labels, marked);
  return out.str();
}

TEST(Dataflow, DrawsNodesEdgesAndMarks) {
  EXPECT_EQ(dot(Dataflow(2, {{0, 1}}), {"aten::relu", "aten::add"}, {1}), "digraph G {\n"
                                                                          "0 [label=\"aten::relu\"];\n"
                                                                          "1 [label=\"aten::add\", style=filled];\n"
                                                                          "0->1 ;\n"
                                                                          "}\n");
}

TEST(Dataflow, DrawsNodesWithoutLabelByNumber) {
  EXPECT_NE(dot(Dataflow(2, {}), {"first"}).find("1 [label=\"1\"]"), std::string::npos);
}

TEST(Dataflow, HostileLabelsStayInsideTheirQuotes) {
  const std::string hostile[] = {"\"];\n}\n",   "ends in \\", "\\\"",        "a\nb\rc\td", std::string("nul\0nul", 7),
                                 "<b>&lt;</b>", "{a|b}",      "digraph G {", "\xff\xfe",   "\x1b[31m",
                                 "\xe2\x98\x83"};
  for (const std::string &label : hostile) {
    const std::string picture = dot(Dataflow(1, {}), {label});
    const std::string start = "digraph G {\n0 [label=\"", end = "\"];\n}\n";
    ASSERT_TRUE(picture.starts_with(start) && picture.ends_with(end)) << picture;
    const std::string inside = picture.substr(start.size(), picture.size() - start.size() - end.size());
    for (std::size_t i = 0; i < inside.size(); ++i) {
      EXPECT_GE(static_cast<unsigned char>(inside[i]), 0x20) << "a control character";
      EXPECT_NE(inside[i], '"') << "a quote that is not escaped";
      if (inside[i] == '\\') {
        ASSERT_LT(++i, inside.size()) << "a backslash that would swallow the closing quote";
        EXPECT_NE(std::string("\\\"n").find(inside[i]), std::string::npos);
      }
    }
  }
  EXPECT_NE(dot(Dataflow(1, {}), {"<b>&lt;"}).find("<b>&amp;lt;"), std::string::npos);
}

} // namespace
} // namespace repro_minify
