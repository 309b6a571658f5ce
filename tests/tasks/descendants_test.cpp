// A process that leaves the process group of a check dies with it all the same.
#include "jobs.h"
#include "tasks/descendants.h"

#include <functional>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>

namespace repro_minify::sandbox_test {
namespace {

/// Starts a daemon as the books have it: forks, leaves the session, and forks again, so that its parent is gone.
void start_daemon() {
  if (fork() != 0)
    return;
  setsid();
  if (fork() != 0)
    _exit(0);
  for (int signal = 1; signal < NSIG; ++signal)
    std::signal(signal, SIG_IGN);
  for (;;)
    pause();
}

TEST(Daemons, DieWithACheckThatAnswers) {
  LifeLine line;
  EXPECT_EQ(run([](Child &child) {
              start_daemon();
              usleep(100'000);
              child.reply("done");
            }).ending,
            Ending::Replied);
  EXPECT_TRUE(line.everyone_is_gone());
  expect_no_children();
}

TEST(Daemons, DieWithACheckThatCrashes) {
  LifeLine line;
  EXPECT_EQ(run([](Child &) {
              start_daemon();
              start_daemon();
              usleep(100'000);
              std::abort();
            }).ending,
            Ending::Crashed);
  EXPECT_TRUE(line.everyone_is_gone());
  expect_no_children();
}

TEST(Daemons, DieWithACheckThatTakesTooLong) {
  LifeLine line;
  EXPECT_EQ(run_in_sandbox(
                [](Child &child) {
                  start_daemon();
                  hang(child);
                },
                within(300ms))
                .ending,
            Ending::TimedOut);
  EXPECT_TRUE(line.everyone_is_gone());
  expect_no_children();
}

TEST(Daemons, OfOneCheckOutliveAnother) {
  TaskGroup pool(2);
  const auto slow = pool.submit(
      [](Child &child) {
        start_daemon();
        usleep(600'000);
        // The daemon is this process's child now, for it takes in orphans; so is its parent, which has ended.
        pid_t ended = 0;
        while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
        }
        child.reply(ended == 0 ? "lives" : "gone");
      },
      within(30s));
  const auto quick = pool.submit(reply_hello, within(30s));
  EXPECT_EQ(pool.wait(quick)->reply, "hello");
  EXPECT_EQ(pool.wait(slow)->reply, "lives");
}

TEST(Daemons, AChildOfTheParentsOwnIsNotTouched) {
  const pid_t own = fork();
  if (own == 0)
    for (;;)
      pause();
  run(reply_hello);
  run([](Child &) { start_daemon(); });
  EXPECT_EQ(kill(own, 0), 0);
  EXPECT_EQ(waitpid(own, nullptr, WNOHANG), 0);
  kill(own, SIGKILL);
  waitpid(own, nullptr, 0);
}

/// Runs `work` in a process of its own, and says what it exited with.
int exit_code_of(const std::function<int()> &work) {
  const pid_t process = fork();
  if (process == 0)
    _exit(work());
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A child that takes the marks it is sent, and says so as long as it lives.
class Stranger {
public:
  Stranger() {
    EXPECT_EQ(pipe(marks_), 0);
    process_ = fork();
    rlimit mark{};
    if (process_ == 0)
      for (;;)
        if (read(marks_[0], &mark, sizeof mark) == sizeof mark && setrlimit(RLIMIT_RTTIME, &mark) == 0)
          line_.write("x");
  }
  ~Stranger() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    close(marks_[0]);
    close(marks_[1]);
  }
  Stranger(const Stranger &) = delete;
  Stranger &operator=(const Stranger &) = delete;

  bool takes(rlim_t number) const {
    const rlimit mark{number, RLIM_INFINITY};
    return write(marks_[1], &mark, sizeof mark) == sizeof mark && line_.read() == 'x';
  }

private:
  int marks_[2]{};
  LifeLine line_;
  pid_t process_ = 0;
};

rlim_t own_mark() {
  rlimit mark{};
  getrlimit(RLIMIT_RTTIME, &mark);
  return mark.rlim_cur;
}

/// In a container processes have numbers of their own: a check in there may be marked as one out here is.
TEST(Daemons, OfAStrangerWithTheSameMarkAreNotTouched) {
  const Stranger stranger;
  const Job check = [&](Child &child) {
    start_daemon();
    if (stranger.takes(own_mark()))
      child.reply("marked");
  };
  // The check is started by another process, so that neither it nor the stranger is the other's child.
  EXPECT_EQ(exit_code_of([&] { return run(check).reply.empty() ? 1 : 0; }), 0);
  EXPECT_TRUE(stranger.takes(RLIM_INFINITY));
}

/// Seen from here, the check of a run in a container has a mark whose number is that of another process, or of none.
TEST(Daemons, OfARunInAContainerAreNotTouched) {
  constexpr int lived = 0, died = 1, no_containers = 2;
  const int came_of_it = exit_code_of([] {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
      return no_containers;
    const Stranger first; // with the number 1 in there; this process still has the old numbers
    constexpr rlim_t mark_of_the_first = (rlim_t{1} << 60) + 1;
    if (!first.takes(mark_of_the_first))
      return died;
    kill_what_dead_runs_left();
    return first.takes(mark_of_the_first) ? lived : died;
  });
  if (came_of_it == no_containers)
    GTEST_SKIP() << "this machine makes no namespaces";
  EXPECT_EQ(came_of_it, lived);
}

} // namespace
} // namespace repro_minify::sandbox_test
