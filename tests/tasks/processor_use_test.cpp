// How long a process had a processor, and waited for one, as it sees it itself and as others see it.
#include "jobs.h"
#include "tasks/time_limit.h"
#include "work_now_and_then.h"

#include <fstream>

#include <sched.h>

namespace repro_minify::sandbox_test {
namespace {

void stay_on_this_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof(one), &one);
}

/// Works, on one processor, until the child has waited for it as well.
ProcessorUse use_beside(pid_t child) {
  ProcessorUse use = use_of_process(child);
  while (use.waited <= 20ms)
    use = use_of_process(child);
  return use;
}

TEST(ProcessorUse, TellsWorkingFromWaiting) {
  if (std::ifstream schedstat("/proc/self/schedstat"); !schedstat)
    GTEST_SKIP() << "this kernel does not count for how long a process waits for a processor";
  const JobEnd job_end = run_in_sandbox(
      [](Child &child) {
        stay_on_this_processor();
        const pid_t works = fork();
        if (works == 0) {
          alarm(600);
          for (;;) {
          }
        }
        const ProcessorUse other = use_beside(works), own = use_of_this_process();
        kill(works, SIGKILL);
        child.reply(other.spent > 0ms && own.spent > 0ms && own.waited > 0ms ? "both" : "not both");
      },
      within(1h));
  EXPECT_EQ(job_end.reply, "both");
}

/// The process counts them itself, too: compilers that have ended are most of what some checks use.
TEST(ProcessorUse, CountsWhatEndedChildrenUsed) {
  const pid_t starts = fork();
  if (starts == 0) {
    alarm(600);
    const pid_t works = fork();
    while (works == 0)
      if (use_of_this_process().spent > 50ms)
        _exit(0);
    waitpid(works, nullptr, 0);
    for (;;)
      pause();
  }
  while (kill(starts, 0) == 0 && use_of_process(starts).spent < 40ms && waitpid(starts, nullptr, WNOHANG) == 0) {
  }
  EXPECT_GE(use_of_process(starts).spent, 40ms);
  kill(starts, SIGKILL);
  waitpid(starts, nullptr, 0);
}

TEST(ProcessorUse, IsZeroForAProcessThatIsNotThere) {
  const pid_t gone = fork();
  if (gone == 0)
    _exit(0);
  waitpid(gone, nullptr, 0);
  const ProcessorUse use = use_of_process(gone);
  EXPECT_EQ(use.spent + use.waited, 0ns);
}

} // namespace
} // namespace repro_minify::sandbox_test
