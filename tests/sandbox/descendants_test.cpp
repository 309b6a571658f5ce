// Whoever leaves the process group of a check dies with it all the same.
#include "jobs.h"

#include <fcntl.h>
#include <sys/resource.h>

namespace repro_minify::sandbox_test {
namespace {

/// A daemon as the books have it: forks, leaves the session, forks again, and is nobody's child.
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
  SandboxPool pool(2);
  const auto slow = pool.submit(
      [](Child &child) {
        start_daemon();
        usleep(600'000);
        // The daemon is this process's child now, for it takes in orphans.
        child.reply(kill(0, 0) == 0 && waitpid(-1, nullptr, WNOHANG) >= 0 ? "lives" : "gone");
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

} // namespace
} // namespace repro_minify::sandbox_test
