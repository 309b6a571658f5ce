// Tests of the cost of a check, from what earlier ones took, and of the range of several forecasts.
#include "reduce/questions/eta.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

TEST(CostModel, FitsALine) {
  CostModel cost;
  EXPECT_EQ(cost.seconds_for(10), std::nullopt);
  for (double size : {10, 20, 40, 80})
    cost.saw(size, 0.5 + 0.01 * size);
  EXPECT_NEAR(*cost.seconds_for(160), 2.1, 1e-9);
  EXPECT_NEAR(*cost.seconds_for(0), 0.5, 1e-9);
}

TEST(CostModel, TakesTheMeanOfOneSizeAndIsNeverNegative) {
  CostModel cost;
  for (double seconds : {1.9, 2.0, 2.1})
    cost.saw(50, seconds);
  EXPECT_NEAR(*cost.seconds_for(1000), 2, 0.02);
  CostModel falling;
  for (double size : {10, 20, 30})
    falling.saw(size, 100 / size);
  EXPECT_GT(*falling.seconds_for(1000), 0);
}

TEST(CostModel, ForgetsWhatLargeProgramsTook) {
  CostModel cost;
  for (int check = 0; check < 20; ++check)
    cost.saw(20000, 3.0);
  for (int check = 0; check < 100; ++check)
    cost.saw(10, 0.01);
  EXPECT_NEAR(*cost.seconds_for(10), 0.01, 0.005);
}

TEST(SensibleRange, HasTheEnds) {
  EXPECT_EQ(sensible_range({2, 2, 2}), (SecondsLeft{2, 2}));
  EXPECT_EQ(sensible_range({4.5, 2, 3}), (SecondsLeft{2, 4.5}));
}

TEST(SensibleRange, SaysNothingWhereForecastsAreFarApart) {
  EXPECT_EQ(sensible_range({}), std::nullopt);
  EXPECT_EQ(sensible_range({1, 10}), std::nullopt);
  EXPECT_EQ(sensible_range({0, 1}), std::nullopt);
}

} // namespace
} // namespace repro_minify
