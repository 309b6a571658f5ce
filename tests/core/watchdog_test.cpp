#include "core/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

constexpr int ended_by_watchdog = 130;

Watchdog *watchdog = nullptr;

/// Runs `job` in a process that has a watchdog. Returns its exit code, or the number of the signal that ended it,
/// negated. It is killed where it does not end at all.
int end_of(const std::function<void()> &job, WatchdogPatience patience = {}) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    watchdog = new Watchdog([] { _exit(ended_by_watchdog); }, patience);
    std::signal(SIGTERM, [](int) { watchdog->request(); });
    job();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Takes a processor for longer than `short_computing`.
void compute() {
  std::atomic<unsigned> steps{0};
  while (++steps < 100000000)
    ;
}

[[noreturn]] void compute_for_ever() {
  while (true)
    compute();
}

/// Until the watchdog has looked this many times more.
template <typename Job> void while_it_looks(std::uint64_t times, Job job) {
  for (const auto end = watchdog->looks() + times; watchdog->looks() < end;)
    job();
}

constexpr WatchdogPatience short_computing = {std::chrono::milliseconds(50), std::chrono::hours(1),
                                              std::chrono::hours(1)};
constexpr WatchdogPatience short_waiting = {std::chrono::hours(1), std::chrono::milliseconds(50),
                                            std::chrono::hours(1)};
constexpr WatchdogPatience short_unheeded = {std::chrono::hours(1), std::chrono::hours(1),
                                             std::chrono::milliseconds(50)};

TEST(Watchdog, EndsWhatComputesForEver) {
  EXPECT_EQ(end_of([] {
              raise(SIGTERM);
              compute_for_ever();
            }),
            ended_by_watchdog);
}

TEST(Watchdog, EndsWhatWaitsForEver) {
  EXPECT_EQ(end_of(
                [] {
                  raise(SIGTERM);
                  while_it_looks(5, [] { watchdog->notice(); });
                  while (true)
                    pause();
                },
                short_waiting),
            ended_by_watchdog);
}

TEST(Watchdog, EndsByTheClockWhatHasNotNoticed) {
  EXPECT_EQ(end_of(
                [] {
                  raise(SIGTERM);
                  compute_for_ever();
                },
                short_unheeded),
            ended_by_watchdog);
}

/// It writes what it has found.
TEST(Watchdog, LetsWhatHasNoticedFinish) {
  EXPECT_EQ(end_of(
                [] {
                  raise(SIGTERM);
                  watchdog->notice();
                  while_it_looks(50, [] {});
                },
                short_unheeded),
            0);
}

/// The watchdog looks at the watched thread's own time: one that only waits has not computed for long.
TEST(Watchdog, LeavesAloneWhatNotices) {
  EXPECT_EQ(end_of(
                [] {
                  raise(SIGTERM);
                  while_it_looks(50, [] { watchdog->notice(); });
                },
                short_computing),
            0);
}

TEST(Watchdog, SleepsUntilItIsAsked) {
  EXPECT_EQ(end_of(
                [] {
                  compute();
                  _exit(watchdog->looks() == 0 ? 7 : 8);
                },
                short_computing),
            7);
}

/// Noticing once is no licence.
TEST(Watchdog, EndsWhatComputesForEverAfterItHasNoticed) {
  EXPECT_EQ(end_of(
                [] {
                  raise(SIGTERM);
                  while_it_looks(5, [] { watchdog->notice(); });
                  compute_for_ever();
                },
                short_computing),
            ended_by_watchdog);
}

/// A forked child has no watchdog, and is none of its parent's business.
TEST(Watchdog, IsNotInherited) {
  EXPECT_EQ(end_of(
                [] {
                  int status = 0;
                  const pid_t child = fork();
                  if (child == 0) {
                    raise(SIGTERM);
                    compute();
                    _exit(5);
                  }
                  waitpid(child, &status, 0);
                  _exit(WEXITSTATUS(status));
                },
                short_computing),
            5);
}

} // namespace
} // namespace repro_minify
