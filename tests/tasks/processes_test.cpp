// Nothing a sandbox made outlives it: processes, zombies, descriptors. And the parent may be in a bad state itself.
#include "jobs.h"

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>

namespace repro_minify::sandbox_test {
namespace {

TEST(SandboxProcesses, ALeftOneIsKilledAfterACrash) {
  LifeLine line;
  const Job job = [](Child &child) {
    if (fork() == 0)
      hang(child);
    std::abort();
  };
  EXPECT_EQ(run_in_sandbox(job, {}).ending, Ending::Crashed); // no limit: waiting for the other would never end
  EXPECT_TRUE(line.everyone_is_gone());
}

TEST(SandboxProcesses, AMixOfThreeHundredRunsLeavesNothing) {
  const std::vector<Job> jobs = {reply_hello, abort_now, [](Child &) { throw std::runtime_error("thrown"); },
                                 [](Child &) { _exit(3); }, [](Child &) { close_every_descriptor(); }};
  run(reply_hello);
  const int before = open_descriptors();
  for (int i = 0; i < 300; ++i)
    run(jobs[static_cast<std::size_t>(i) % jobs.size()]);
  EXPECT_EQ(open_descriptors(), before);
  expect_no_children();
}

TEST(SandboxProcesses, DieWithAParentThatIsKilled) {
  LifeLine line;
  const pid_t parent = fork();
  if (parent == 0) {
    TaskGroup pool(2);
    for (int i = 0; i < 2; ++i)
      pool.submit(
          [&](Child &child) {
            line.write("r");
            hang(child);
          },
          Limits{});
    pause();
  }
  EXPECT_EQ(line.read(), 'r');
  EXPECT_EQ(line.read(), 'r');
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(line.everyone_is_gone());
  while (waitpid(-1, nullptr, 0) > 0) { // a process that has had children of its own takes in orphans
  }
}

/// Interrupts system calls all the time while it lives.
class Alarms {
public:
  Alarms() {
    struct sigaction action {};
    action.sa_handler = [](int) {}; // no SA_RESTART: calls fail with EINTR
    sigaction(SIGALRM, &action, &before_);
    every(1000); // not much oftener: a sleep that is interrupted within the slack of its timer never ends
  }
  ~Alarms() {
    every(0);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Alarms(const Alarms &) = delete;
  Alarms &operator=(const Alarms &) = delete;

private:
  static void every(suseconds_t microseconds) {
    const itimerval timer{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  struct sigaction before_;
};

TEST(SandboxProcesses, LeaveNoZombieWhenSignalsInterruptTheParent) {
  {
    TaskGroup pool(30);
    for (int i = 0; i < 30; ++i)
      pool.submit(hang, Limits{});
    const Alarms alarms; // gone before the pool: what follows cancel() is interrupted, the destructor is not
    for (TaskGroup::Ticket ticket = 1; ticket <= 15; ++ticket)
      pool.cancel(ticket);
  }
  expect_no_children();
}

TEST(SandboxProcesses, LeaveNoZombieWhenSignalsInterruptTheDestructor) {
  auto pool = std::make_unique<TaskGroup>(30);
  for (int i = 0; i < 30; ++i)
    pool->submit(hang, Limits{});
  const Alarms alarms;
  pool.reset();
  expect_no_children();
}

TEST(SandboxProcesses, WaitSurvivesInterruptedCalls) {
  TaskGroup pool(2);
  const auto quick = pool.submit(reply_hello, within(30s));
  const auto hanging = pool.submit(hang, within(200ms));
  const Alarms alarms;
  EXPECT_EQ(pool.wait(quick)->ending, Ending::Replied);
  EXPECT_EQ(pool.wait(hanging)->ending, Ending::TimedOut);
}

/// Takes all descriptors but `left` while it lives.
class FewDescriptors {
public:
  explicit FewDescriptors(int left) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{128, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int taken; (taken = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
      taken_.push_back(taken);
    for (; left > 0; --left) {
      close(taken_.back());
      taken_.pop_back();
    }
  }
  ~FewDescriptors() {
    for (int taken : taken_)
      close(taken);
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  FewDescriptors(const FewDescriptors &) = delete;
  FewDescriptors &operator=(const FewDescriptors &) = delete;

private:
  rlimit before_;
  std::vector<int> taken_;
};

TEST(SandboxProcesses, OutOfDescriptorsIsAnOutcomeAndLeaksNone) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer looks at objects through a pipe of its own";
#endif
  const int before = open_descriptors();
  for (int left = 0; left < 4; ++left) { // two pipes are needed
    const FewDescriptors few(left);
    const JobEnd job_end = run(reply_hello);
    EXPECT_EQ(job_end.ending, Ending::Exited) << left;
    EXPECT_EQ(job_end.exit_code, -1) << left;
    EXPECT_NE(job_end.message, "") << left;
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(run(reply_hello).ending, Ending::Replied);
}

TEST(SandboxProcesses, ALostExitStatusIsNoReply) {
  const auto before = std::signal(SIGCHLD, SIG_IGN); // the kernel reaps: how a child ended is lost
  const JobEnd crashed = run(abort_now);
  const JobEnd replied = run(reply_hello);
  std::signal(SIGCHLD, before);
  EXPECT_EQ(crashed.ending, Ending::Exited);
  EXPECT_EQ(crashed.exit_code, -1);
  EXPECT_NE(crashed.message, "");
  EXPECT_EQ(replied.ending, Ending::Replied);
}

/// Runs `job` in a parent that has no standard streams of its own.
JobEnd run_without_standard_streams(const Job &job) {
  int kept[3];
  for (int i = 0; i < 3; ++i) {
    kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
    close(i);
  }
  const JobEnd job_end = run(job);
  for (int i = 0; i < 3; ++i) {
    dup2(kept[i], i);
    close(kept[i]);
  }
  return job_end;
}

TEST(SandboxProcesses, AreHeardByAParentWithoutStandardStreams) {
  const JobEnd job_end = run_without_standard_streams([](Child &child) {
    std::printf("to output");
    child.reply("hello");
  });
  EXPECT_EQ(job_end.ending, Ending::Replied);
  EXPECT_EQ(job_end.output_tail, "to output");
}

TEST(SandboxProcesses, DoNotPrintWhereTheParentPrints) {
  testing::internal::CaptureStdout();
  std::printf("before, "); // still buffered when the child is forked
  run([](Child &) { std::printf("inside, "); });
  std::printf("after");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "before, after");
}

} // namespace
} // namespace repro_minify::sandbox_test
