// The end that a child comes to does not depend on when its parent looks at it.
#include "jobs.h"
#include "tasks/child_process.h"
#include "work_now_and_then.h"

#include <thread>

namespace repro_minify::sandbox_test {
namespace {

/// The parent looks once the job is over: the job says so through a pipe.
JobEnd seen_late(const Job &job, const Limits &limits) {
  LifeLine line;
  TaskGroup pool(1);
  const auto ticket = pool.submit(
      [&](Child &child) {
        job(child);
        line.write("x");
      },
      limits);
  while (line.read() == '\0') {
  }
  std::this_thread::sleep_for(50ms);
  return *pool.wait(ticket);
}

TEST(ALateLook, FindsThatATimeLimitHadPassed) {
  const JobEnd job_end = seen_late(
      [](Child &child) {
        child.reply("too late");
        std::this_thread::sleep_for(250ms);
      },
      within(200ms));
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
  EXPECT_EQ(job_end.reply, "");
}

TEST(ALateLook, FindsThatAnAnswerWasInTime) {
  EXPECT_EQ(seen_late(reply_hello, within(1h)).reply, "hello");
}

TEST(ALateLook, FindsTheStageThatTookTooLong) {
  TaskGroup pool(1);
  const auto ticket = pool.submit(
      [&](Child &child) {
        child.stage("takes too long");
        child.allow(50ms);
        std::this_thread::sleep_for(100ms);
        child.stage("comes after it");
        child.reply("done");
      },
      within(1h));
  std::this_thread::sleep_for(1s);
  const JobEnd job_end = *pool.wait(ticket);
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
  EXPECT_EQ(job_end.stage, "takes too long");
}

TEST(ALateLook, FindsThatACrashCameTooLate) {
  for (const bool crashes : {false, true}) {
    TaskGroup pool(1);
    const auto ticket = pool.submit(
        [crashes](Child &) {
          std::this_thread::sleep_for(100ms);
          crashes ? std::abort() : std::exit(3);
        },
        within(50ms));
    std::this_thread::sleep_for(1s);
    EXPECT_EQ(pool.wait(ticket)->ending, Ending::TimedOut) << crashes;
  }
}

/// A busy machine is an excuse for who was kept from a processor, not for who had one all the time.
TEST(ALateLook, FindsWhatWasSpentOnAProcessor) {
  Limits limits = within(100ms);
  limits.allow_for_load = true;
  const JobEnd job_end = seen_late([](Child &) { work_now_and_then(0.3); }, limits);
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
}

/// The process lives for a while after its answer, and is asked for it once.
TEST(ChildProcess, HandsOutItsReplyOnce) {
  FrameNames frame_names;
  ChildProcess child([](Child &one) { one.reply(std::string(1 << 20, 'x')); }, within(1h), frame_names);
  std::optional<JobEnd> answer, end;
  while (!answer)
    answer = child.try_answer();
  EXPECT_EQ(answer->reply.size(), 1u << 20);
  while (!end)
    end = child.try_reap();
  EXPECT_EQ(end->reply.size(), 0u);
}

} // namespace
} // namespace repro_minify::sandbox_test
