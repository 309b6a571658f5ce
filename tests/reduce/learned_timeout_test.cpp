// What earlier checks say of the time limit of the next.
#include "reduce/learned_timeout.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;

TEST(LearnedTimeout, GoesDownToWhatChecksTake) {
  LearnedTimeout timeout(60s, /*hang_is_wanted=*/false, 0s);
  for (int i = 0; i < 4; ++i)
    timeout.saw(200ms);
  EXPECT_EQ(timeout.limit(), 60s); // too few to tell
  timeout.saw(200ms);
  EXPECT_EQ(timeout.limit(), 4s);
  timeout.saw(30s);
  EXPECT_EQ(timeout.limit(), 60s); // never more than that
}

TEST(LearnedTimeout, OnlyGoesUpWhereAHangIsWanted) {
  LearnedTimeout timeout(5s, /*hang_is_wanted=*/true, 20s);
  for (int i = 0; i < 9; ++i)
    timeout.saw(10ms);
  EXPECT_EQ(timeout.limit(), 5s);
  timeout.saw(2s); // passes, and is not far from the limit: the next may take a little longer
  EXPECT_EQ(timeout.limit(), 10s);
  timeout.saw(9s);
  EXPECT_EQ(timeout.limit(), 20s);
}

TEST(LearnedTimeout, DoesNotRiseAboveWhatItWasTold) {
  LearnedTimeout timeout(5s, /*hang_is_wanted=*/true, 0s);
  timeout.saw(4s);
  EXPECT_EQ(timeout.limit(), 5s);
}

TEST(LearnedTimeout, LearnsNothingWithoutALimit) {
  LearnedTimeout timeout(0s, /*hang_is_wanted=*/true, 20s);
  timeout.saw(4s);
  EXPECT_EQ(timeout.limit(), 0s);
}

} // namespace
} // namespace repro_minify
