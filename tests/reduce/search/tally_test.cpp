// Tests of the count of questions, of the time they took, and of when there is no point in asking on.
#include "reduce/search_memory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace repro_minify {
namespace {

TEST(Tally, AddsUp) {
  double now = 0;
  Tally tally([&now] { return now; });
  for (int i = 1; i <= 3; ++i) {
    now = 2.0 * i; // half of it between two checks
    tally.answered(/*seconds=*/1);
  }
  tally.recalled();
  EXPECT_EQ(tally.checks(), 3);
  EXPECT_EQ(tally.cached(), 1);
  EXPECT_DOUBLE_EQ(tally.check_seconds(), 3);
  EXPECT_DOUBLE_EQ(tally.elapsed_seconds(), 6);
}

TEST(Tally, SaysEachReasonOnce) {
  Tally tally;
  tally.unanswered("killed");
  tally.unanswered("killed");
  tally.unanswered("no compiler");
  EXPECT_EQ(tally.unanswered(), 3);
  EXPECT_EQ(tally.reasons(), (std::set<std::string>{"killed", "no compiler"}));
  EXPECT_EQ(tally.checks(), 0);
}

TEST(Tally, GivesUpAfterManyInARow) {
  Tally tally;
  for (int i = 0; i < 7; ++i)
    tally.unanswered("killed");
  EXPECT_FALSE(tally.nothing_answers());
  tally.answered(0.1); // something still does
  for (int i = 0; i < 7; ++i)
    tally.unanswered("killed");
  EXPECT_FALSE(tally.nothing_answers());
  tally.unanswered("killed");
  EXPECT_TRUE(tally.nothing_answers());
  EXPECT_EQ(tally.unanswered(), 15);
}

TEST(Tally, HasAClockThatGoesOn) {
  const Tally tally;
  const double before = tally.elapsed_seconds();
  EXPECT_GE(before, 0);
  for (int step = 0; step < 10000 && tally.elapsed_seconds() <= before; ++step)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(tally.elapsed_seconds(), before);
}

} // namespace
} // namespace repro_minify
