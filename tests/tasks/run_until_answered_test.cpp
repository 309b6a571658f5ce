// Tests of which ends of a child say nothing of its job, and that the job is then begun again.
#include "core/files.h"
#include "failing_fork.h"
#include "tasks/sandbox.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

/// One that ChildProcess cannot make good by waiting a little.
constexpr int more_than_one_start_takes = 6;

TEST(NoAnswer, IsAChildThatWasKilledFromOutside) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP})
    EXPECT_FALSE(is_answer(run_in_sandbox([signal](Child &) { kill(getpid(), signal); }, {}))) << signal;
  for (const int signal : {SIGSEGV, SIGABRT, SIGPIPE})
    EXPECT_TRUE(is_answer(run_in_sandbox([signal](Child &) { raise(signal); }, {}))) << signal;
}

TEST(NoAnswer, IsAChildThatCouldNotBeStarted) {
  testing_support::fail_forks(more_than_one_start_takes);
  const JobEnd job_end = run_in_sandbox([](Child &child) { child.reply("x"); }, {});
  testing_support::fail_forks(0);
  EXPECT_FALSE(is_answer(job_end));
  EXPECT_NE(job_end.message.find("could not be started"), std::string::npos) << job_end.message;
}

TEST(NoAnswer, IsNoneOfTheJobsOwnEnds) {
  EXPECT_TRUE(is_answer(run_in_sandbox([](Child &) { _exit(-1); }, {})));
  EXPECT_TRUE(is_answer(run_in_sandbox([](Child &) { throw 1; }, {})));
  Limits limits;
  limits.timeout = std::chrono::milliseconds(50);
  EXPECT_TRUE(is_answer(run_in_sandbox([](Child &) { pause(); }, limits)));
}

TEST(RunUntilAnswered, BeginsAgainWhatWasKilledOrCouldNotBegin) {
  const TemporaryFolder folder;
  const std::string mark = folder / "was-here";
  testing_support::fail_forks(more_than_one_start_takes);
  const JobEnd job_end = run_until_answered(
      [&](Child &child) {
        if (!std::filesystem::exists(mark)) {
          std::ofstream(mark) << "x";
          kill(getpid(), SIGKILL);
        }
        child.reply("answer");
      },
      {});
  testing_support::fail_forks(0);
  EXPECT_EQ(job_end.ending, Ending::Replied);
  EXPECT_EQ(job_end.reply, "answer");
}

TEST(RunUntilAnswered, GivesUpInTheEnd) {
  EXPECT_EQ(run_until_answered([](Child &) { kill(getpid(), SIGKILL); }, {}).ending, Ending::Killed);
}

TEST(RunUntilAnswered, AsksNoChildAgainThatHasAnswered) {
  const TemporaryFolder folder;
  const auto count = [&](Child &) {
    std::ofstream(folder / "times", std::ios::app) << "x";
    raise(SIGSEGV);
  };
  EXPECT_EQ(run_until_answered(count, {}).ending, Ending::Crashed);
  EXPECT_EQ(std::filesystem::file_size(folder / "times"), 1u);
}

} // namespace
} // namespace repro_minify
