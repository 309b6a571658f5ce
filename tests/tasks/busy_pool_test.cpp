// A pool whose jobs end in every way at the same time.
#include "jobs.h"
#include "repro_minify/sandbox.h"

#include <stdexcept>
#include <vector>

namespace repro_minify::sandbox_test {
namespace {

std::vector<JobEnd> wait_for_all(TaskGroup &pool, const std::vector<TaskGroup::Ticket> &tickets) {
  std::vector<JobEnd> job_ends;
  for (auto ticket : tickets)
    job_ends.push_back(*pool.wait(ticket));
  return job_ends;
}

/// One of five jobs that end differently.
void end_in_some_way(Child &child, int i) {
  switch (i % 5) {
  case 0:
    child.reply(std::to_string(i));
    return;
  case 1:
    throw std::runtime_error(std::to_string(i));
  case 2:
    _exit(i % 100);
  case 3:
    child.stage(std::to_string(i));
    std::abort();
  default:
    hang(child);
  }
}

void expect_ending_of(int i, const JobEnd &job_end) {
  constexpr Ending endings[] = {Ending::Replied, Ending::Threw, Ending::Exited, Ending::Crashed, Ending::TimedOut};
  EXPECT_EQ(job_end.ending, endings[i % 5]) << i;
  EXPECT_EQ(job_end.reply, i % 5 == 0 ? std::to_string(i) : "");
  EXPECT_EQ(job_end.message, i % 5 == 1 ? std::to_string(i) : "");
  EXPECT_EQ(job_end.exit_code, i % 5 == 2 ? i % 100 : 0);
  EXPECT_EQ(job_end.stage, i % 5 == 3 ? std::to_string(i) : "");
}

TEST(SandboxBusyPool, TwoHundredJobsGetTheirOwnOutcomes) {
  {
    TaskGroup pool(4);
    std::vector<TaskGroup::Ticket> tickets;
    for (int i = 0; i < 200; ++i)
      tickets.push_back(pool.submit([i](Child &child) { end_in_some_way(child, i); }, within(i % 5 == 4 ? 50ms : 30s)));
    EXPECT_EQ(pool.pending(), 200);
    const auto job_ends = wait_for_all(pool, tickets);
    for (int i = 0; i < 200; ++i)
      expect_ending_of(i, job_ends[static_cast<std::size_t>(i)]);
    EXPECT_EQ(pool.pending(), 0);
  } // until here, who has answered may still be dying
  expect_no_children();
}

TEST(SandboxBusyPool, TimeLimitsOfOthersPassWhileOneIsWaitedFor) {
  LifeLine line;
  TaskGroup pool(4);
  std::vector<TaskGroup::Ticket> tickets;
  for (int i = 0; i < 3; ++i)
    tickets.push_back(pool.submit(hang, within(300ms)));
  const auto last =
      pool.submit([&](Child &child) { child.reply(line.everyone_is_gone() ? "gone" : "still there"); }, {});
  line.let_go();
  EXPECT_EQ(pool.wait(last)->reply, "gone");
  for (const JobEnd &job_end : wait_for_all(pool, tickets))
    EXPECT_EQ(job_end.ending, Ending::TimedOut);
}

TEST(SandboxBusyPool, AQueuedJobThatIsCancelledNeverRuns) {
  LifeLine line;
  TaskGroup pool(1);
  const auto running = pool.submit(hang, within(300ms));
  const auto queued = pool.submit([&](Child &) { line.write("x"); }, within(30s));
  const auto last = pool.submit(reply_hello, within(30s));
  pool.cancel(queued);
  EXPECT_EQ(pool.wait(running)->ending, Ending::TimedOut);
  EXPECT_EQ(pool.wait(last)->ending, Ending::Replied);
  EXPECT_EQ(pool.pending(), 0);
  EXPECT_TRUE(line.everyone_is_gone()) << "something was written";
}

TEST(SandboxBusyPool, ARunningJobThatIsCancelledMakesRoom) {
  LifeLine line;
  TaskGroup pool(1);
  const auto running = pool.submit(
      [](Child &child) {
        if (fork() == 0)
          hang(child);
        hang(child);
      },
      Limits{});
  const auto queued = pool.submit(reply_hello, within(30s));
  pool.cancel(running);
  EXPECT_EQ(pool.wait(queued)->ending, Ending::Replied);
  EXPECT_TRUE(line.everyone_is_gone());
}

TEST(SandboxBusyPool, TheDestructorLeavesNoChildren) {
  prepare_confinement(); // opens once what stays open
  LifeLine line;
  const int before = open_descriptors();
  {
    TaskGroup pool(4);
    for (int i = 0; i < 20; ++i)
      pool.submit(hang, Limits{});
    pool.submit(reply_hello, Limits{});
  }
  expect_no_children();
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_TRUE(line.everyone_is_gone());
}

} // namespace
} // namespace repro_minify::sandbox_test
