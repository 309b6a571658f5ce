// Several children at a time.
#include "jobs.h"
#include "repro_minify/sandbox.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace repro_minify {
namespace {

using sandbox_test::LifeLine;
using sandbox_test::within;

using namespace std::chrono_literals;

const Job hang = [](Child &) {
  for (;;)
    pause();
};

Job answer(const std::string &text, std::chrono::milliseconds after = 0ms) {
  return [text, after](Child &child) {
    std::this_thread::sleep_for(after);
    child.reply(text);
  };
}

bool has_children() {
  return waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD;
}

/// An answer comes before the process that gave it has ended; looking at the pool reaps.
bool reaps_all(const TaskGroup &pool) {
  for (int tries = 0; tries < 60'000; ++tries, std::this_thread::sleep_for(1ms)) {
    siginfo_t info{};
    pool.has_free_worker();
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD)
      return true;
  }
  return false;
}

TEST(TaskGroup, HandsBackManyAnswersInAnyOrder) {
  TaskGroup pool(4);
  std::vector<TaskGroup::Ticket> tickets;
  tickets.reserve(200);
  for (int i = 0; i < 200; ++i)
    tickets.push_back(pool.submit(answer(std::to_string(i)), within(30s)));
  EXPECT_EQ(pool.pending(), 200);
  for (int i = 0; i < 200; i += 2)
    EXPECT_EQ(pool.wait(tickets[i])->reply, std::to_string(i));
  for (int i = 199; i > 0; i -= 2)
    EXPECT_EQ(pool.wait(tickets[i])->reply, std::to_string(i));
  EXPECT_EQ(pool.pending(), 0);
  EXPECT_TRUE(reaps_all(pool));
}

TEST(TaskGroup, RunsNoMoreThanItsWorkers) {
  TaskGroup pool(2);
  EXPECT_EQ(pool.workers(), 2);
  EXPECT_TRUE(pool.has_free_worker());
  pool.submit(hang, {});
  EXPECT_TRUE(pool.has_free_worker());
  pool.submit(hang, {});
  EXPECT_FALSE(pool.has_free_worker());
  EXPECT_FALSE(pool.ready(pool.submit(answer("queued"), {})));
}

TEST(TaskGroup, SeesThatAWorkerBecameFree) {
  TaskGroup pool(1);
  const auto ticket = pool.submit(answer("a"), {});
  for (int i = 0; i < 60'000 && !pool.has_free_worker(); ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(pool.has_free_worker());
  EXPECT_TRUE(pool.ready(ticket));
  EXPECT_EQ(pool.pending(), 1) << "its outcome has not been taken";
  EXPECT_EQ(pool.wait(ticket)->reply, "a");
}

TEST(TaskGroup, StartsJobsInOrder) {
  TaskGroup pool(1);
  const auto slow = pool.submit(answer("first", 50ms), {});
  const auto fast = pool.submit(answer("second"), {});
  EXPECT_EQ(pool.wait(fast)->reply, "second");
  EXPECT_TRUE(pool.ready(slow)) << "one worker: the first has ended before the second began";
  EXPECT_EQ(pool.wait(slow)->reply, "first");
}

TEST(TaskGroup, CountsTheTimeFromTheStart) {
  TaskGroup pool(1);
  pool.submit(answer("first", 1200ms), {});
  const auto queued = pool.submit(answer("second"), within(1s));
  EXPECT_EQ(pool.wait(queued)->ending, Ending::Replied) << "the time in the queue does not count";
}

TEST(TaskGroup, DoesNotBlameAJobForALateLook) {
  TaskGroup pool(1);
  Limits limits = within(1s);
  limits.allow_for_load = true; // it answers later where it is kept from a processor
  const auto ticket = pool.submit(answer("in time"), limits);
  std::this_thread::sleep_for(1200ms);
  const auto job_end = pool.wait(ticket);
  EXPECT_EQ(job_end->ending, Ending::Replied) << "measured by the child";
}

TEST(TaskGroup, CancelsARunningJob) {
  TaskGroup pool(1);
  const auto running = pool.submit(hang, {});
  const auto queued = pool.submit(answer("next"), {});
  pool.cancel(running);
  EXPECT_EQ(pool.wait(queued)->reply, "next");
  EXPECT_EQ(pool.wait(running)->ending, Ending::Cancelled);
}

TEST(TaskGroup, CancelsAQueuedJob) {
  TaskGroup pool(1);
  const auto running = pool.submit(answer("running", 50ms), {});
  const auto queued = pool.submit(hang, {});
  const auto last = pool.submit(answer("last"), {});
  pool.cancel(queued);
  pool.cancel(queued);
  EXPECT_EQ(pool.pending(), 2);
  EXPECT_EQ(pool.wait(last)->reply, "last");
  EXPECT_EQ(pool.wait(running)->reply, "running");
  EXPECT_EQ(pool.pending(), 0);
}

TEST(TaskGroup, CancelsAJobThatHasEnded) {
  TaskGroup pool(1);
  const auto ticket = pool.submit(answer("x"), {});
  while (!pool.ready(ticket))
    std::this_thread::sleep_for(1ms);
  pool.cancel(ticket);
  EXPECT_EQ(pool.pending(), 0);
  EXPECT_EQ(pool.wait(ticket)->ending, Ending::Cancelled);
}

TEST(TaskGroup, RefusesATicketThatIsNotThere) {
  TaskGroup pool(1);
  EXPECT_THROW(pool.wait(77), std::invalid_argument);
  const auto ticket = pool.submit(answer("x"), {});
  EXPECT_TRUE(pool.wait(ticket));
  EXPECT_THROW(pool.wait(ticket), std::invalid_argument) << "taken once already";
  EXPECT_FALSE(pool.ready(ticket));
  pool.cancel(ticket);
  pool.cancel(77);
}

TEST(TaskGroup, LeavesNoChildBehind) {
  {
    TaskGroup pool(4);
    for (int i = 0; i < 6; ++i)
      pool.submit(hang, {});
    pool.cancel(1);
    pool.submit(answer("never taken"), {});
  }
  EXPECT_FALSE(has_children());
}

TEST(TaskGroup, GoesOnAfterAnInterruptedWait) {
  const LifeLine line;
  TaskGroup pool(1);
  const auto when_told = [&](Child &child) { child.reply(std::string(1, line.read())); };
  const auto ticket = pool.submit(when_told, {});
  int polls = 0;
  EXPECT_FALSE(pool.wait(ticket, [&polls] { return ++polls == 3; })) << "it asks again though nothing happens";
  EXPECT_EQ(polls, 3);
  line.write("x");
  EXPECT_EQ(pool.wait(ticket, [] { return false; })->reply, "x");
}

TEST(TaskGroup, TakesWhatEndedWhileItAskedAtOnce) {
  TaskGroup pool(1);
  const auto ticket = pool.submit(answer("early"), {});
  int polls = 0;
  const auto job_end = pool.wait(ticket, [&] {
    ++polls;
    while (!pool.ready(ticket))
      std::this_thread::sleep_for(1ms);
    return false;
  });
  EXPECT_EQ(job_end->reply, "early");
  EXPECT_LE(polls, 1); // a second time is after a nap that nothing ends
}

TEST(TaskGroup, KeepsOneChildsCrashFromTheOthers) {
  TaskGroup pool(3);
  std::vector<TaskGroup::Ticket> tickets;
  for (int i = 0; i < 30; ++i)
    tickets.push_back(pool.submit(i % 3 == 0 ? Job([](Child &) { raise(SIGSEGV); }) : answer(std::to_string(i)), {}));
  for (int i = 0; i < 30; ++i) {
    const auto job_end = pool.wait(tickets[i]);
    EXPECT_EQ(job_end->ending, i % 3 == 0 ? Ending::Crashed : Ending::Replied);
    EXPECT_EQ(job_end->reply, i % 3 == 0 ? "" : std::to_string(i));
  }
}

TEST(TaskGroup, TreatsNoWorkersAsOne) {
  TaskGroup pool(0);
  EXPECT_EQ(pool.workers(), 1);
  EXPECT_EQ(pool.wait(pool.submit(answer("x"), {}))->reply, "x");
}

} // namespace
} // namespace repro_minify
