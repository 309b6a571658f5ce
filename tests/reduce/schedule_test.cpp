// Whose turn it is: what the reducer decides beside the passes.
#include "reduce/turns.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

const ReductionPass first{"first", "", Goal::Size, nullptr}, second{"second", "", Goal::Size, nullptr},
    simple{"simple", "", Goal::Simplicity, nullptr};

Schedule schedule() {
  return Schedule({&first, &second, &simple});
}

TEST(Schedule, TakesFirstTurnsInOrderAndSimplicityLast) {
  Schedule turns = schedule();
  for (size_t expected : {0, 1, 2}) {
    ASSERT_EQ(turns.next(), expected);
    turns.took_turn(expected, false, 0, 10);
  }
  EXPECT_EQ(turns.next(), std::nullopt);
}

TEST(Schedule, PrefersWhatGainedMoreForItsCost) {
  Schedule turns = schedule();
  turns.took_turn(0, true, 2, 100);
  turns.took_turn(1, true, 90, 100);
  EXPECT_EQ(turns.next(), 1u);
}

TEST(Schedule, OpensAllAfterAnyStepForward) {
  Schedule turns = schedule();
  turns.took_turn(0, false, 0, 10);
  turns.took_turn(1, false, 0, 10);
  EXPECT_EQ(turns.next(), 2u);
  turns.took_turn(2, true, 1, 1);
  // Simplicity has its turns until nothing is left of it, then size is certified once more.
  EXPECT_EQ(turns.next(), 2u);
  turns.took_turn(2, false, 0, 1);
  for (int others = 0; others < 2; ++others) {
    const auto next = turns.next();
    ASSERT_TRUE(next && *next != 2);
    turns.took_turn(*next, false, 0, 1);
  }
  EXPECT_EQ(turns.next(), std::nullopt);
}

TEST(Schedule, ComesBackToDeferredPassesWhenNoOtherFindsAnything) {
  Schedule turns = schedule();
  turns.took_turn(0, true, 90, 10);
  turns.deferred(0);
  ASSERT_EQ(turns.next(), 1u);
  turns.took_turn(1, false, 0, 10);
  ASSERT_EQ(turns.next(), 0u); // before simplicity
  EXPECT_TRUE(turns.is_deferred(0));
  turns.deferred(0);
  turns.took_turn(1, true, 1, 10);
  EXPECT_FALSE(turns.is_deferred(0)); // the program is another one now
}

} // namespace
} // namespace repro_minify
