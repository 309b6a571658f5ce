// Jobs that do their worst: they write where they should not, fork, stop, and run out of time and memory in odd places.
#include "jobs.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#define SKIP_UNDER_ADDRESS_SANITIZER() GTEST_SKIP() << "its allocator ends the process where others throw"
#else
#define SKIP_UNDER_ADDRESS_SANITIZER() (void)0
#endif

namespace repro_minify::sandbox_test {
namespace {

/// Memory that this process shares with others: where each piece begins and its size.
std::map<unsigned long, std::size_t> shared_memory() {
  std::map<unsigned long, std::size_t> pieces;
  FILE *maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long from = 0, to = 0;
    if (std::strstr(line, "rw-s") && std::strstr(line, "/dev/zero") && std::sscanf(line, "%lx-%lx", &from, &to) == 2)
      pieces[from] = to - from;
  }
  std::fclose(maps);
  return pieces;
}

/// Writes over the memory that sandboxes share with their children, which is what a wild pointer does at worst.
class Scribbler {
public:
  explicit Scribbler(int byte) : byte_(byte), of_other_tests_(shared_memory()) {}
  /// Ends the process with a code of its own where it finds none.
  void operator()() const {
    bool found = false;
    for (const auto &[from, size] : shared_memory())
      if (!of_other_tests_.contains(from)) {
        std::memset(reinterpret_cast<void *>(from), byte_, size);
        found = true;
      }
    if (!found)
      _exit(nothing_to_write_over);
  }
  static constexpr int nothing_to_write_over = 77;

private:
  int byte_;
  std::map<unsigned long, std::size_t> of_other_tests_;
};

constexpr std::size_t mebibyte = 1 << 20;

Limits with_memory(std::size_t bytes) {
  Limits limits = within(30s);
  limits.memory_bytes = bytes;
  return limits;
}

void allocate_for_ever() {
  std::vector<std::unique_ptr<char[]>> blocks;
  for (;;)
    std::memset(blocks.emplace_back(new char[mebibyte]).get(), 1, mebibyte);
}

TEST(SandboxHostileJob, IsNotBelievedWhenItScribblesOverItsReply) {
  for (int byte : {0xff, 0x01, 0x80, 0x00}) {
    const Scribbler scribble(byte);
    const JobEnd exited = run([&](Child &child) {
      child.reply("x");
      scribble();
      _exit(0);
    });
    EXPECT_EQ(exited.ending, Ending::Exited) << byte;
    EXPECT_EQ(exited.exit_code, 0) << byte;
    EXPECT_LE(exited.stage.size(), 64u);
    const JobEnd crashed = run([&](Child &) {
      scribble();
      std::abort();
    });
    EXPECT_EQ(crashed.ending, Ending::Crashed) << byte;
    EXPECT_EQ(crashed.reply, "");
    EXPECT_FALSE(crashed.frames.empty()) << "they were written later";
    const JobEnd left_no_frames = run([&](Child &) {
      scribble();
      raise(SIGUSR1);
    });
    EXPECT_EQ(left_no_frames.ending, Ending::Crashed) << byte;
    EXPECT_TRUE(left_no_frames.frames.empty()) << byte;
  }
}

TEST(SandboxHostileJob, CannotScribbleOverTheReplyOfAnother) {
  const Scribbler scribble(0x02);
  TaskGroup pool(2);
  const LifeLine line;
  const LifeLine vandal_is_gone;
  const auto victim = pool.submit(
      [&](Child &child) {
        child.stage("mine");
        child.reply("half");
        line.write("s");
        vandal_is_gone.read();
        child.reply(", whole");
      },
      {});
  EXPECT_EQ(line.read(), 's');
  const auto vandal = pool.submit(
      [&](Child &child) {
        scribble();
        abort_now(child);
      },
      within(30s));
  EXPECT_EQ(pool.wait(vandal)->ending, Ending::Crashed);
  vandal_is_gone.write("g");
  const JobEnd job_end = *pool.wait(victim);
  EXPECT_EQ(job_end.ending, Ending::Replied);
  EXPECT_EQ(job_end.reply, "half, whole");
  EXPECT_EQ(job_end.stage, "mine");
}

TEST(SandboxHostileJob, ExitsWithZeroAfterHalfAReply) {
  const JobEnd job_end = run([](Child &child) {
    child.reply("nearly");
    _exit(0);
  });
  EXPECT_EQ(job_end.ending, Ending::Exited);
  EXPECT_EQ(job_end.exit_code, 0);
  EXPECT_EQ(job_end.reply, "");
}

/// Runs a job that must not end by itself and expects the limit to end it, with all that it started.
void expect_time_out(const Job &job) {
  LifeLine line;
  const JobEnd job_end = run_in_sandbox(job, within(200ms));
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
  EXPECT_TRUE(line.everyone_is_gone());
  expect_no_children();
}

TEST(SandboxHostileJob, IsEndedThoughItStoppedItself) {
  expect_time_out([](Child &) { raise(SIGSTOP); });
}

TEST(SandboxHostileJob, IsEndedThoughItLeftItsProcessGroup) {
  expect_time_out([](Child &child) {
    if (fork() == 0) // a leader of a group cannot leave it, its child can
      hang(child);
    setpgid(0, getppid());
    hang(child);
  });
}

TEST(SandboxHostileJob, IsEndedWithTheProcessesItStarted) {
  expect_time_out([](Child &child) {
    for (int i = 0; i < 3; ++i)
      if (fork() == 0)
        hang(child);
    hang(child);
  });
}

TEST(SandboxHostileJob, IsEndedThoughAThreadHangs) {
  expect_time_out([](Child &child) { std::thread([&] { hang(child); }).join(); });
}

TEST(SandboxHostileJob, RunsOutOfMemoryInAThread) {
  SKIP_UNDER_ADDRESS_SANITIZER();
  const Job job = [](Child &) { std::thread(allocate_for_ever).join(); };
  EXPECT_EQ(run_in_sandbox(job, with_memory(128 * mebibyte)).ending, Ending::OutOfMemory);
}

TEST(SandboxHostileJob, AbortsWithMemoryToSpare) {
  const JobEnd job_end = run_in_sandbox(abort_now, with_memory(128 * mebibyte));
  EXPECT_EQ(job_end.ending, Ending::Crashed);
  EXPECT_EQ(job_end.signal, SIGABRT);
}

TEST(SandboxHostileJob, MayReplyMoreThanItsMemory) {
  Limits limits = with_memory(64 * mebibyte);
  limits.reply_capacity = 256 * mebibyte;
  const Job job = [](Child &child) {
    const std::string block(mebibyte, 'x');
    for (int i = 0; i < 128; ++i)
      child.reply(block);
  };
  const JobEnd job_end = run_in_sandbox(job, limits);
  EXPECT_EQ(job_end.ending, Ending::Replied);
  EXPECT_EQ(job_end.reply.size(), 128 * mebibyte);
}

} // namespace
} // namespace repro_minify::sandbox_test
