// Limits that are not a time from the fork on: those that the job sets itself, and somebody who does not want to wait.
#include "repro_minify/sandbox.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <thread>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;

void sleep_for_ever() {
  for (;;)
    pause();
}

TEST(OwnLimit, EndsTheStageThatItWasSetIn) {
  const Outcome outcome = run_in_sandbox(
      [](Child &child) {
        child.stage("first");
        child.allow(1h);
        std::this_thread::sleep_for(50ms);
        child.stage("second");
        child.allow(100ms);
        sleep_for_ever();
      },
      {.timeout = 1h});
  EXPECT_EQ(outcome.ending, Ending::TimedOut);
  EXPECT_EQ(outcome.stage, "second");
  EXPECT_GE(outcome.before_stage, 50ms);
  EXPECT_GE(outcome.wall - outcome.before_stage, 100ms);
}

TEST(OwnLimit, IsGoneWithItsStage) {
  const Outcome outcome = run_in_sandbox(
      [](Child &child) {
        child.stage("first");
        child.allow(50ms);
        child.stage("second");
        std::this_thread::sleep_for(300ms);
        child.reply("done");
      },
      {.timeout = 1h});
  EXPECT_EQ(outcome.ending, Ending::Replied);
}

TEST(OwnLimit, IsNeverMoreThanTheLimitOfTheSandbox) {
  const Outcome outcome = run_in_sandbox(
      [](Child &child) {
        child.stage("only");
        child.allow(1h);
        sleep_for_ever();
      },
      {.timeout = 200ms});
  EXPECT_EQ(outcome.ending, Ending::TimedOut);
}

TEST(Interrupted, AJobIsCancelled) {
  int asked = 0;
  Limits limits;
  limits.timeout = 1h;
  limits.interrupted = [&] { return ++asked > 3; };
  const Outcome outcome = run_in_sandbox([](Child &) { sleep_for_ever(); }, limits);
  EXPECT_EQ(outcome.ending, Ending::Cancelled);
  EXPECT_EQ(asked, 4);
}

} // namespace
} // namespace repro_minify
