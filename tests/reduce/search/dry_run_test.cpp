// Tests that the outcome of a dry run is a value, wherever in its loops the code was left.
#include "reduce/search_futures.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace repro_minify {
namespace {

TEST(DryRun, ComesToItsEnd) {
  DryRun<int> dry_run;
  int done = 0;
  const auto end = dry_run.run([&] { ++done; });
  EXPECT_FALSE(end.question || end.stopped);
  EXPECT_EQ(done, 1);
}

TEST(DryRun, LeavesAtTheFirstOpenQuestion) {
  DryRun<int> dry_run;
  int asked = 0;
  const auto end = dry_run.run([&] {
    for (int question = 1;; ++question, ++asked)
      if (question == 3)
        dry_run.leave_at(question);
  });
  EXPECT_EQ(end.question, 3);
  EXPECT_EQ(asked, 2);
}

TEST(DryRun, CanBeStoppedAndBegunAgain) {
  DryRun<int> dry_run;
  EXPECT_TRUE(dry_run.run([&] { dry_run.stop(); }).stopped);
  EXPECT_FALSE(dry_run.run([] {}).stopped);
}

/// A pass's turn is such code: an error in it is the pass's problem, but leaving it is no error.
TEST(DryRun, PassesCodeThatCatchesErrors) {
  DryRun<int> dry_run;
  const auto end = dry_run.run([&] {
    try {
      dry_run.leave_at(7);
    } catch (const std::exception &) {
      FAIL();
    }
  });
  EXPECT_EQ(end.question, 7);
}

TEST(DryRun, LetsErrorsOut) {
  DryRun<int> dry_run;
  EXPECT_THROW(dry_run.run([] { throw std::runtime_error("broken"); }), std::runtime_error);
}

/// A search looks ahead within a pass that is itself run ahead.
TEST(DryRun, LeavesTheOneThatIsMeant) {
  DryRun<std::string> outer, inner;
  bool went_on = false;
  const auto end = outer.run([&] {
    EXPECT_EQ(inner.run([&] { inner.leave_at("inner"); }).question, "inner");
    went_on = true;
    inner.run([&] { outer.leave_at("outer"); });
    ADD_FAILURE() << "the inner one was left";
  });
  EXPECT_TRUE(went_on);
  EXPECT_EQ(end.question, "outer");
}

} // namespace
} // namespace repro_minify
