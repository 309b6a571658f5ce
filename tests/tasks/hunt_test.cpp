// A hunt ends early where others keep coming, and late where all were killed: on a busy machine it takes long to die.
#include "tasks/descendants.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;

constexpr Hunt::Clock::time_point first_look{};

TEST(Hunt, EndsWhereNoneIsLeft) {
  Hunt hunt(first_look);
  EXPECT_TRUE(hunt.goes_on({7}, first_look));
  EXPECT_FALSE(hunt.goes_on({}, first_look + 1ms));
}

TEST(Hunt, WaitsForThoseThatWereKilledAndHaveNoProcessorToDieOn) {
  Hunt hunt(first_look);
  EXPECT_TRUE(hunt.goes_on({7, 8}, first_look));
  EXPECT_TRUE(hunt.goes_on({8}, first_look + 10s));
  EXPECT_FALSE(hunt.goes_on({8}, first_look + 20s));
}

TEST(Hunt, LeavesThoseThatForkFasterThanTheyAreKilled) {
  Hunt hunt(first_look);
  EXPECT_TRUE(hunt.goes_on({7}, first_look));
  EXPECT_TRUE(hunt.goes_on({7, 8}, first_look + 1900ms));
  EXPECT_FALSE(hunt.goes_on({8, 9}, first_look + 2s));
}

} // namespace
} // namespace repro_minify
