// When a limit in time is over: by the clock, or by what the machine's load leaves of it.
#include "tasks/time_limit.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;

constexpr TimeLimit::Clock::time_point begin{};
const TimeLimit limit{begin, begin + 10s, {1s, 2s}};

/// `spent` and `waited`: since the limit began.
bool is_over(std::chrono::nanoseconds after, std::chrono::nanoseconds spent, std::chrono::nanoseconds waited,
             bool allow_for_load = true) {
  return limit.is_over(begin + after, allow_for_load, [&] { return ProcessorUse{1s + spent, 2s + waited}; });
}

TEST(TimeLimit, IsTheClocksWhereLoadIsNotAllowedFor) {
  EXPECT_FALSE(is_over(9s, 9s, 0s, false));
  EXPECT_TRUE(is_over(10s, 0s, 10s, false));
}

TEST(TimeLimit, IsOverOnceMostOfItWasSpentOnAProcessor) {
  EXPECT_FALSE(is_over(9s, 9s, 0s));
  EXPECT_FALSE(is_over(20s, 5s, 15s));
  EXPECT_TRUE(is_over(20s, 8s, 12s));
}

TEST(TimeLimit, IsOverForAProcessThatSleeps) {
  EXPECT_TRUE(is_over(10s, 100ms, 0s));
  EXPECT_TRUE(is_over(10s, 100ms, 200ms));
}

TEST(TimeLimit, IsNotOverForAProcessThatHardlyGetsAProcessor) {
  EXPECT_FALSE(is_over(10s, 10ms, 9s));
  EXPECT_FALSE(is_over(99s, 100ms, 98s));
  EXPECT_TRUE(is_over(100s, 100ms, 99s));
}

} // namespace
} // namespace repro_minify
