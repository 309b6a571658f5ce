// What earlier checks say of the time limit of the next.
#include "reduce/questions/learned_timeout.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

TEST(LearnedTimeout, GoesDownToWhatChecksTake) {
  LearnedTimeout timeout(60s, /*hang_is_wanted=*/false, 0s);
  for (int i = 0; i < 4; ++i)
    timeout.saw(200ms);
  EXPECT_EQ(timeout.limit(), 60s); // too few to tell
  timeout.saw(200ms);
  EXPECT_EQ(timeout.limit(), 4s);
  EXPECT_EQ(timeout.full(), 60s);
  timeout.saw(30s);
  EXPECT_EQ(timeout.limit(), 60s); // never more than that
}

TEST(LearnedTimeout, OnlyGoesUpWhereAHangIsWanted) {
  LearnedTimeout timeout(5s, /*hang_is_wanted=*/true, 20s);
  for (int i = 0; i < 9; ++i)
    timeout.saw(10ms);
  EXPECT_EQ(timeout.limit(), 5s);
  timeout.saw(2s); // twice that is within the limit
  EXPECT_EQ(timeout.limit(), 5s);
  timeout.saw(4s); // passes, and is not far from the limit: the next may take a little longer
  EXPECT_EQ(timeout.limit(), 8s);
  EXPECT_EQ(timeout.full(), 8s); // who is asked again has no less
  timeout.saw(19s);
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

TEST(LearnedTimeout, FollowsWhatChecksTook) {
  LearnedTimeout limit(milliseconds(60000), false, milliseconds(60000));
  EXPECT_EQ(limit.limit(), milliseconds(60000));
  for (int check = 0; check < 5; ++check)
    limit.saw(milliseconds(10));
  EXPECT_EQ(limit.limit(), milliseconds(3000)); // a machine may stand still that long
  limit.saw(milliseconds(500));
  EXPECT_EQ(limit.limit(), milliseconds(10000));
  limit.saw(milliseconds(50000));
  EXPECT_EQ(limit.limit(), milliseconds(60000)); // never more than was said
}

TEST(LearnedTimeout, LearnsNothingWhereAHangIsTheFailure) {
  LearnedTimeout limit(milliseconds(60000), true, milliseconds(60000));
  for (int check = 0; check < 50; ++check)
    limit.saw(milliseconds(10));
  EXPECT_EQ(limit.limit(), milliseconds(60000));
}

TEST(LearnedTimeout, KeepsHavingNoLimit) {
  LearnedTimeout limit(milliseconds(0), false, milliseconds(0));
  for (int check = 0; check < 50; ++check)
    limit.saw(milliseconds(10));
  EXPECT_EQ(limit.limit(), milliseconds(0));
}

} // namespace
} // namespace repro_minify
