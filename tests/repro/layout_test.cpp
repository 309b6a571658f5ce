#include "core/programs.h"
#include "repro/value_list.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

TEST(GraphLayout, ReadsWhatDotPrints) {
  const GraphLayout layout = read_plain_layout("graph 1 2 3\nnode n0 1 2.5 0.75 0.5 \"\" solid box black lightgrey\n"
                                               "node n1 1 0.5 0.75 0.5 \"\" solid box black lightgrey\n"
                                               "edge n0 n1 4 1 2.25 1 2 1 1 1 0.75 solid black\nstop\n",
                                               2);
  ASSERT_EQ(layout.problem, "");
  EXPECT_EQ(layout.size.height, 3 * 72);
  EXPECT_EQ(layout.centres[0].y, 0.5 * 72) << "y points down";
  ASSERT_EQ(layout.curves.size(), 1u);
  EXPECT_EQ(layout.curves[0].points.size(), 4u);
  EXPECT_EQ(layout.curves[0].to, 1);
}

TEST(GraphLayout, TakesNothingElse) {
  for (const char *text : {"", "<svg>", "graph 1 2 3\nnode n7 1 1\n", "graph 1 2 3\nnode <b> 1 1\n",
                           "graph 1 2 3\nedge n0 n1 4 1 1\n", "graph 1\n", "graph 1 2 3\nedge n0 n9 1 1 1\n"})
    EXPECT_NE(read_plain_layout(text, 2).problem, "") << text;
}

TEST(GraphLayout, PutsTheReaderBelow) {
  if (find_program("dot").empty())
    GTEST_SKIP() << "needs Graphviz";
  const GraphLayout layout = lay_out({{60, 20}, {80, 20}}, {{0, 1}});
  ASSERT_EQ(layout.problem, "");
  EXPECT_LT(layout.centres[0].y, layout.centres[1].y);
  EXPECT_NEAR(layout.size.width, 80, 1);
}

} // namespace
} // namespace repro_minify
