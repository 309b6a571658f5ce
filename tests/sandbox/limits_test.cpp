// Limits that are not a time from the fork on: those that the job sets itself, and a caller who does not want to wait.
#include "repro_minify/sandbox.h"
#include "work_now_and_then.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;

void sleep_too_long() {
  for (;;)
    pause();
}

TEST(OwnLimit, EndsTheStageThatItWasSetIn) {
  const JobEnd job_end = run_in_sandbox(
      [](Child &child) {
        child.stage("first");
        child.allow(1h);
        child.stage("second");
        child.allow(100ms);
        sleep_too_long();
      },
      {.timeout = 1h});
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
  EXPECT_EQ(job_end.stage, "second");
  EXPECT_GT(job_end.before_stage.count(), 0);
  EXPECT_GT(job_end.wall, job_end.before_stage);
}

TEST(Memory, TakenBeforeTheLastStageIsTold) {
  constexpr std::size_t size = std::size_t{96} << 20;
  const JobEnd job_end = run_in_sandbox(
      [](Child &child) {
        child.stage("first");
        const std::string written(size, 'x');
        child.reply(written.substr(0, 1));
        child.stage("second");
      },
      {.timeout = 1h});
  EXPECT_EQ(job_end.ending, Ending::Replied);
  EXPECT_GE(job_end.bytes_before_stage, size / 4 * 3); // what was freed already, and is taken again, does not count
  EXPECT_LT(job_end.bytes_before_stage, 2 * size);
}

TEST(AllowForLoad, WhoIsKeptFromAProcessorHasLonger) {
  const auto job_end = [](bool allow_for_load, bool own, double works) {
    Limits limits{.timeout = own ? 1h : 200ms, .allow_for_load = allow_for_load};
    return run_in_sandbox(
        [=](Child &child) {
          child.stage("works");
          if (own)
            child.allow(200ms);
          sandbox_test::work_now_and_then(works);
        },
        limits);
  };
  for (const bool own : {false, true}) {
    EXPECT_EQ(job_end(false, own, 0.12).ending, Ending::TimedOut);
    EXPECT_EQ(job_end(true, own, 0.12).ending, Ending::Replied);
    EXPECT_EQ(job_end(true, own, 3600).ending, Ending::TimedOut);
  }
}

TEST(AllowForLoad, WhoWaitsForNothingHasNoMore) {
  const JobEnd job_end = run_in_sandbox([](Child &) { sleep_too_long(); }, {.timeout = 100ms, .allow_for_load = true});
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
}

TEST(OwnLimit, IsGoneWithItsStage) {
  const JobEnd job_end = run_in_sandbox(
      [](Child &child) {
        child.stage("first");
        child.allow(1s);
        child.stage("second");
        std::this_thread::sleep_for(1200ms);
        child.reply("done");
      },
      {.timeout = 1h});
  EXPECT_EQ(job_end.ending, Ending::Replied);
}

TEST(OwnLimit, IsNeverMoreThanTheLimitOfTheSandbox) {
  const JobEnd job_end = run_in_sandbox(
      [](Child &child) {
        child.stage("only");
        child.allow(1h);
        sleep_too_long();
      },
      {.timeout = 200ms});
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
}

TEST(Niceness, IsThatOfTheChildAlone) {
  const auto niceness_of_child = [](int asked) {
    Limits limits{.timeout = 1h};
    limits.niceness = asked;
    const JobEnd job_end =
        run_in_sandbox([](Child &child) { child.reply(std::to_string(getpriority(PRIO_PROCESS, 0))); }, limits);
    return std::stoi(job_end.reply);
  };
  const int own = getpriority(PRIO_PROCESS, 0);
  EXPECT_EQ(niceness_of_child(0), own);
  EXPECT_EQ(niceness_of_child(19), 19);
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), own);
}

TEST(Interrupted, AJobIsCancelled) {
  int asked = 0;
  Limits limits;
  limits.timeout = 1h;
  limits.interrupted = [&] { return ++asked > 3; };
  const JobEnd job_end = run_in_sandbox([](Child &) { sleep_too_long(); }, limits);
  EXPECT_EQ(job_end.ending, Ending::Cancelled);
  EXPECT_EQ(asked, 4);
}

} // namespace
} // namespace repro_minify
