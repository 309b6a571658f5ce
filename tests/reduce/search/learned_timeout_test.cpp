// Tests of the time limit that earlier checks give the next one.
#include "reduce/search_memory.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

TEST(LearnedTimeout, GoesDownToWhatChecksTake) {
  LearnedTimeout timeout(60s, /*hang_is_wanted=*/false);
  for (int i = 0; i < 4; ++i)
    timeout.saw(200ms);
  EXPECT_EQ(timeout.limit(), 60s); // too few to tell
  timeout.saw(200ms);
  EXPECT_EQ(timeout.limit(), 4s);
  EXPECT_EQ(timeout.full(), 60s);
  timeout.saw(30s);
  EXPECT_EQ(timeout.limit(), 60s); // never more than that
}

/// The verdict that a candidate hangs must not depend on which candidates were asked about before it.
TEST(LearnedTimeout, StaysWhereAHangIsWanted) {
  LearnedTimeout timeout(5s, /*hang_is_wanted=*/true);
  for (int i = 0; i < 9; ++i)
    timeout.saw(10ms);
  EXPECT_EQ(timeout.limit(), 5s);
  timeout.saw(4s);
  EXPECT_EQ(timeout.limit(), 5s);
  EXPECT_EQ(timeout.full(), 5s);
}

TEST(LearnedTimeout, LearnsNothingWithoutALimit) {
  LearnedTimeout timeout(0s, /*hang_is_wanted=*/true);
  timeout.saw(4s);
  EXPECT_EQ(timeout.limit(), 0s);
}

TEST(LearnedTimeout, FollowsWhatChecksTook) {
  LearnedTimeout limit(milliseconds(60000), false);
  EXPECT_EQ(limit.limit(), milliseconds(60000));
  for (int check = 0; check < 5; ++check)
    limit.saw(milliseconds(10));
  EXPECT_EQ(limit.limit(), milliseconds(3000)); // a machine may stand still that long
  limit.saw(milliseconds(500));
  EXPECT_EQ(limit.limit(), milliseconds(10000));
  limit.saw(milliseconds(50000));
  EXPECT_EQ(limit.limit(), milliseconds(60000)); // never more than was said
}

TEST(LearnedTimeout, KeepsHavingNoLimit) {
  LearnedTimeout limit(milliseconds(0), false);
  for (int check = 0; check < 50; ++check)
    limit.saw(milliseconds(10));
  EXPECT_EQ(limit.limit(), milliseconds(0));
}

} // namespace
} // namespace repro_minify
