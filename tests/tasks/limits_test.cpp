// Limits that are not a time from the fork on: those that the job sets itself, and a caller who does not want to wait.
#include "repro_minify/sandbox.h"
#include "tasks/child_process.h"
#include "tasks/time_limit.h"
#include "work_now_and_then.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;

void sleep_too_long() {
  for (;;)
    pause();
}

/// The first heap in /proc/self/smaps, with its flags: "hg" is there once the kernel was asked for large pages.
std::string flags_of_the_heap() {
  std::ifstream maps("/proc/self/smaps");
  bool is_heap = false;
  for (std::string line; std::getline(maps, line);) {
    is_heap = is_heap || line.ends_with("[heap]");
    if (is_heap && line.starts_with("VmFlags:"))
      return line + " ";
  }
  return "";
}

TEST(LargePages, HoldTheHeapOnceAChildWasForked) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage") || flags_of_the_heap().empty())
    GTEST_SKIP() << "a kernel without large pages, or a process without a heap";
  run_in_sandbox([](Child &) {}, {.timeout = 1h});
  EXPECT_NE(flags_of_the_heap().find(" hg "), std::string::npos) << flags_of_the_heap();
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
  static constexpr auto limit = 500ms;
  const auto job_end = [](bool allow_for_load, bool own, double works) {
    Limits limits{.timeout = own ? 1h : limit, .allow_for_load = allow_for_load};
    return run_in_sandbox(
        [=](Child &child) {
          child.stage("works");
          if (own)
            child.allow(limit);
          sandbox_test::work_now_and_then(works);
        },
        limits);
  };
  for (const bool own : {false, true}) {
    EXPECT_EQ(job_end(false, own, 0.3).ending, Ending::TimedOut);
    EXPECT_TRUE(sandbox_test::had_longer(job_end(true, own, 0.3), limit));
    EXPECT_EQ(job_end(true, own, 3600).ending, Ending::TimedOut);
  }
}

/// The work is done by a process that the job has started, or by one that lives beside it. The limit is so long that
/// a machine which stands still for half a second decides nothing.
class AllowForLoadOfOthers : public testing::TestWithParam<bool> {
protected:
  static constexpr auto limit = 1500ms;

  /// Forks a process that has a processor now and then until it has had it for so long, and says then that it is done.
  pid_t start(double seconds_on_a_processor) {
    const pid_t works = fork();
    if (works == 0) {
      sandbox_test::work_now_and_then(seconds_on_a_processor);
      _exit(write(pipe_[1], "x", 1) == 1 ? 0 : 1);
    }
    return works;
  }
  JobEnd wait_for_one_that_works(double seconds) {
    EXPECT_EQ(pipe(pipe_.data()), 0);
    const bool is_own = GetParam();
    const pid_t beside = is_own ? 0 : start(seconds);
    const JobEnd job_end = run_in_sandbox(
        [&](Child &child) {
          const pid_t works = is_own ? start(seconds) : beside;
          if (!is_own)
            is_helped_by(works);
          char done = 0;
          EXPECT_EQ(read(pipe_[0], &done, 1), 1);
          if (is_own)
            waitpid(works, nullptr, 0);
          else
            helper_has_used({.spent = std::chrono::milliseconds(static_cast<int>(1000 * seconds))});
          child.reply("done");
        },
        {.timeout = limit, .allow_for_load = true});
    for (const int end : pipe_)
      close(end);
    if (beside > 0) {
      kill(beside, SIGKILL);
      waitpid(beside, nullptr, 0);
    }
    return job_end;
  }

private:
  std::array<int, 2> pipe_{};
};

TEST_P(AllowForLoadOfOthers, WhoWaitsForOneThatIsKeptFromAProcessorHasLonger) {
  const JobEnd job_end = wait_for_one_that_works(0.8); // for longer than the limit, as it also sleeps
  EXPECT_TRUE(sandbox_test::had_longer(job_end, limit));
  EXPECT_EQ(job_end.reply, job_end.ending == Ending::Replied ? "done" : "");
  EXPECT_EQ(wait_for_one_that_works(3600).ending, Ending::TimedOut);
}

INSTANTIATE_TEST_SUITE_P(Of, AllowForLoadOfOthers, testing::Bool(),
                         [](const auto &info) { return info.param ? "TheJobsOwn" : "AHelper"; });

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
