// Tests of when an Outlook may look how long the reduction takes still, and for how long it may look.
#include "reduce/questions/outlook.h"

#include <gtest/gtest.h>

#include <functional>

namespace repro_minify {
namespace {

struct Looking : Outlook {
  int looks = 0;
  std::function<void()> meanwhile = [] {};

  void look(double, const CostModel &) override {
    ++looks;
    meanwhile();
  }
  std::optional<SecondsLeft> seconds_left(double elapsed_seconds) const override {
    return SecondsLeft{100 - elapsed_seconds, 200 - elapsed_seconds};
  }
};

class LookoutTest : public testing::Test {
protected:
  LookoutTest() { lookout.look_with(outlook); }

  void answer(int checks, double seconds) {
    for (int i = 0; i < checks; ++i) {
      now += seconds;
      tally.answered(small, seconds);
    }
  }
  /// One question, during which there is time to look twice.
  void ask(int nodes) {
    lookout.begin_question();
    lookout.look(nodes);
    lookout.look(nodes);
  }

  static constexpr int small = 20;
  double now = 0;
  Tally tally{[this] { return now; }};
  Looking outlook;
  Lookout lookout{tally};
};

TEST_F(LookoutTest, LooksOnceAQuestion) {
  answer(20, 1);
  ask(small);
  EXPECT_EQ(outlook.looks, 1);
  ask(small);
  EXPECT_EQ(outlook.looks, 2);
}

TEST_F(LookoutTest, LooksOnlyWhereThatIsWorthIt) {
  ask(small);
  EXPECT_EQ(outlook.looks, 0) << "nothing is known";
  answer(20, 0.001);
  ask(small);
  EXPECT_EQ(outlook.looks, 0) << "it is over in a moment";
  answer(100, 1);
  ask(100000);
  EXPECT_EQ(outlook.looks, 0) << "that takes too long to go through";
  ask(small);
  EXPECT_EQ(outlook.looks, 1);
}

TEST_F(LookoutTest, TakesLittleOfTheTime) {
  answer(20, 1);
  outlook.meanwhile = [this] { now += 10; };
  ask(small);
  ask(small);
  EXPECT_EQ(outlook.looks, 1); // 10 of 30 seconds were enough
  answer(100, 1);
  ask(small);
  EXPECT_EQ(outlook.looks, 2);
}

TEST_F(LookoutTest, HoldsAnswersUpALittle) {
  answer(20, 5);
  outlook.meanwhile = [this] {
    EXPECT_FALSE(lookout.is_overdue()); // there since now
    now += 1;
    EXPECT_FALSE(lookout.is_overdue());
    now += 2;
    EXPECT_TRUE(lookout.is_overdue());
  };
  ask(small);
  outlook.meanwhile = [this] { EXPECT_TRUE(lookout.is_overdue()) << "all that there was to take was taken"; };
  ask(small);
  EXPECT_EQ(outlook.looks, 2);
}

TEST_F(LookoutTest, SaysNothingAtFirst) {
  answer(9, 1);
  EXPECT_EQ(lookout.seconds_left(), std::nullopt);
  answer(1, 1);
  EXPECT_EQ(lookout.seconds_left(), (SecondsLeft{90, 190}));
  EXPECT_EQ(Lookout(tally).seconds_left(), std::nullopt);
}

} // namespace
} // namespace repro_minify
