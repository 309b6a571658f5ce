// Two searches of one program are counted as both, and what the first one removed as nothing.
#include "reduce/reduce_recorded.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

Reduction reduction_of(const std::vector<PassStatistics> &passes) {
  Reduction reduction;
  for (const PassStatistics &row : passes) {
    reduction.checks += row.checks;
    reduction.seconds += row.seconds;
  }
  reduction.cached = 3;
  reduction.passes = passes;
  return reduction;
}

TEST(TwoReductions, AreAddedUpPassByPass) {
  const Reduction earlier = reduction_of({
      {.pass = "cut",
       .runs = 1,
       .tried = 5,
       .worked = 2,
       .checks = 4,
       .seconds = 1,
       .operators_removed = 9,
       .problem = ""},
      {.pass = "sizes", .runs = 1, .tried = 1, .worked = 0, .checks = 1, .seconds = 2, .problem = "stumbled"},
  });
  const Reduction last = reduction_of(
      {{.pass = "cut", .runs = 2, .tried = 3, .worked = 1, .checks = 2, .operators_removed = 7, .problem = ""}});
  const Reduction both = with_earlier(last, earlier, /*is_continued=*/false);
  EXPECT_EQ(both.checks, 7);
  EXPECT_EQ(both.cached, 6);
  EXPECT_EQ(both.seconds, 3);
  ASSERT_EQ(both.passes.size(), 2u);
  EXPECT_EQ(both.passes[0].runs, 3);
  EXPECT_EQ(both.passes[0].tried, 8);
  EXPECT_EQ(both.passes[0].worked, 3);
  EXPECT_EQ(both.passes[0].checks, 6);
  EXPECT_EQ(both.passes[0].operators_removed, 7); // those of the other were put back
  EXPECT_EQ(with_earlier(last, earlier, /*is_continued=*/true).passes[0].operators_removed, 16);
  EXPECT_EQ(both.passes[1].pass, "sizes");
  EXPECT_EQ(both.passes[1].checks, 1);
  EXPECT_EQ(both.passes[1].problem, "stumbled");
}

} // namespace
} // namespace repro_minify
