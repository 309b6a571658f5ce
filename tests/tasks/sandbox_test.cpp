// One child: every way in which a job can end, and what is known of it afterwards.
#include "jobs.h"
#include "repro_minify/sandbox.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace repro_minify {
namespace {

using sandbox_test::run;
using sandbox_test::SharedNumber;
using sandbox_test::within;

using namespace std::chrono_literals;

#ifdef __SANITIZE_ADDRESS__
constexpr bool with_asan = true;
#else
constexpr bool with_asan = false;
#endif

void close_everything() {
  close_range(0, ~0U, 0);
}

[[noreturn]] void sleep_for_ever() {
  for (;;)
    pause();
}

/// A killed process may take a moment to go.
bool goes_away(pid_t pid) {
  for (int i = 0; i < 2000; ++i) {
    if (kill(pid, 0) != 0)
      return true;
    // A process that is not reaped stays as a zombie; it is dead all the same.
    std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r"), fclose);
    char state = 'Z';
    if (!file || (std::fscanf(file.get(), "%*d (%*[^)]) %c", &state) == 1 && state == 'Z'))
      return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

void expect_crash(const JobEnd &job_end, int signal) {
  EXPECT_EQ(job_end.ending, Ending::Crashed) << to_string(job_end.ending);
  EXPECT_EQ(job_end.signal, signal);
  EXPECT_EQ(job_end.reply, "");
}

TEST(Sandbox, HandsBackTheReply) {
  const JobEnd job_end = run([](Child &child) {
    child.reply("one ");
    child.reply("");
    child.reply(std::string_view("t\0wo", 4));
  });
  EXPECT_EQ(job_end.ending, Ending::Replied);
  EXPECT_EQ(job_end.reply, std::string("one t\0wo", 8));
  EXPECT_EQ(job_end.message, "");
  EXPECT_GT(job_end.wall.count(), 0);
  EXPECT_GT(job_end.peak_rss_bytes, 100'000U);
}

TEST(Sandbox, KeepsTheStageAcrossACrash) {
  const JobEnd job_end = run([](Child &child) {
    child.stage("first");
    child.stage("second");
    child.reply("half a re");
    raise(SIGSEGV);
  });
  expect_crash(job_end, SIGSEGV);
  EXPECT_EQ(job_end.stage, "second");
}

TEST(Sandbox, CutsALongStage) {
  const JobEnd job_end = run([](Child &child) { child.stage(std::string(1000, 's')); });
  EXPECT_EQ(job_end.stage, std::string(63, 's'));
}

TEST(Sandbox, SurvivesANullPointer) {
  expect_crash(run([](Child &) {
                 volatile std::uintptr_t nowhere = 0;
                 const auto *pointer = reinterpret_cast<volatile const char *>(nowhere);
                 if (with_asan) // UBSan would end the process in its own way
                   raise(SIGSEGV);
                 std::_Exit(*pointer);
               }),
               SIGSEGV);
}

TEST(Sandbox, SurvivesAbort) {
  expect_crash(run([](Child &) { std::abort(); }), SIGABRT);
}

TEST(Sandbox, SurvivesADivisionByZero) {
  expect_crash(run([](Child &) { raise(SIGFPE); }), SIGFPE);
}

int go_down(volatile char *above);
int (*volatile further_down)(volatile char *) = go_down; // the compiler must not see that this never ends

int go_down(volatile char *above) {
  volatile char frame[4096];
  frame[0] = above ? above[0] : '\0';
  return further_down(frame) + frame[0];
}

TEST(Sandbox, SurvivesAStackOverflow) {
  if (with_asan)
    GTEST_SKIP() << "AddressSanitizer has a stack of its own";
  expect_crash(run([](Child &) { std::_Exit(go_down(nullptr)); }), SIGSEGV);
}

TEST(Sandbox, MeetsSignalsWithTheirDefaults) {
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGFPE, &ignore, &before);
  sigset_t blocked;
  sigset_t mask_before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGABRT);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &mask_before);
  const JobEnd ignored_here = run([](Child &) { raise(SIGFPE); });
  const JobEnd blocked_here = run([](Child &) { raise(SIGUSR1); });
  sigset_t mask_after;
  pthread_sigmask(SIG_SETMASK, &mask_before, &mask_after);
  sigaction(SIGFPE, &before, nullptr);
  expect_crash(ignored_here, SIGFPE);
  expect_crash(blocked_here, SIGUSR1);
  EXPECT_TRUE(sigismember(&mask_after, SIGUSR1)) << "the parent's own mask must come back";
  EXPECT_FALSE(sigismember(&mask_after, SIGTERM));
}

TEST(Sandbox, StopsAJobThatHangs) {
  const JobEnd job_end = run_in_sandbox(
      [](Child &child) {
        child.stage("hanging");
        sleep_for_ever();
      },
      within(1s));
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
  EXPECT_EQ(job_end.stage, "hanging");
}

TEST(Sandbox, StopsAJobThatSpinsAndIgnoresSigterm) {
  const JobEnd job_end = run_in_sandbox(
      [](Child &) {
        signal(SIGTERM, SIG_IGN);
        raise(SIGTERM);
        volatile int spins = 0;
        for (;;)
          spins = (spins + 1) % 1000;
      },
      within(100ms));
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
}

TEST(Sandbox, StopsAJobThatLeftItsProcessGroup) {
  const JobEnd job_end = run_in_sandbox(
      [](Child &) {
        setpgid(0, getppid());
        setsid();
        sleep_for_ever();
      },
      within(100ms));
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
}

TEST(Sandbox, PassesOnWhatAnExceptionSays) {
  const JobEnd job_end = run([](Child &) { throw std::runtime_error("it went wrong"); });
  EXPECT_EQ(job_end.ending, Ending::Threw);
  EXPECT_EQ(job_end.message, "it went wrong");
  const JobEnd thrown_int = run([](Child &) { throw 42; });
  EXPECT_EQ(thrown_int.ending, Ending::Threw);
  EXPECT_EQ(thrown_int.message, "unknown exception");
}

TEST(Sandbox, PassesOnWhatAnExceptionInAThreadSays) {
  const JobEnd job_end = run([](Child &) { std::thread([] { throw std::runtime_error("in a thread"); }).join(); });
  expect_crash(job_end, SIGABRT);
  EXPECT_EQ(job_end.message, "in a thread");
}

TEST(Sandbox, CutsAVeryLongMessage) {
  const JobEnd job_end = run([](Child &) { throw std::runtime_error(std::string(1'000'000, 'm')); });
  EXPECT_EQ(job_end.ending, Ending::Threw);
  EXPECT_EQ(job_end.message, std::string(64 << 10, 'm'));
}

void use_up_memory() {
  std::vector<std::unique_ptr<std::vector<char>>> blocks;
  for (;;)
    blocks.push_back(std::make_unique<std::vector<char>>(1 << 20, 'x'));
}

JobEnd run_with_memory(std::uint64_t bytes, const Job &job) {
  Limits limits = within(30s);
  limits.memory_bytes = bytes;
  return run_in_sandbox(job, limits);
}

TEST(Sandbox, LimitsMemory) {
  if (with_asan)
    GTEST_SKIP() << "AddressSanitizer ends the process itself when memory runs out";
  const JobEnd job_end = run_with_memory(64 << 20, [](Child &) { use_up_memory(); });
  EXPECT_EQ(job_end.ending, Ending::OutOfMemory);
  EXPECT_GT(job_end.peak_rss_bytes, 50U << 20);
  // The peak includes the memory that a child inherits from this process: a child that does nothing shows how much.
  const std::uint64_t inherited = run([](Child &child) { child.reply("done"); }).peak_rss_bytes;
  EXPECT_LT(job_end.peak_rss_bytes, inherited + (400U << 20));
}

TEST(Sandbox, TellsOfMemoryWhereNoExceptionCanBeCaught) {
  if (with_asan)
    GTEST_SKIP() << "AddressSanitizer ends the process itself when memory runs out";
  EXPECT_EQ(run_with_memory(64 << 20, [](Child &) noexcept { use_up_memory(); }).ending, Ending::OutOfMemory);
  const auto null_after_failure = [](Child &) {
    char *volatile taken = new (std::nothrow) char[std::size_t{1} << 40]; // volatile: else Clang need not ask for it
    if (!taken)
      raise(SIGSEGV);
  };
  EXPECT_EQ(run_with_memory(64 << 20, null_after_failure).ending, Ending::OutOfMemory);
}

TEST(Sandbox, DoesNotBlameAnOldFailedAllocationForACrash) {
  if (with_asan)
    GTEST_SKIP() << "AddressSanitizer ends the process itself when memory runs out";
  const JobEnd job_end = run_with_memory(64 << 20, [](Child &child) {
    char *volatile taken = new (std::nothrow) char[std::size_t{1} << 40];
    delete[] taken;
    child.stage("later");
    raise(SIGSEGV);
  });
  expect_crash(job_end, SIGSEGV);
}

TEST(Sandbox, LetsAJobUseWhatTheLimitAllowsAboveItsParent) {
  if (with_asan)
    GTEST_SKIP() << "AddressSanitizer's shadow counts as memory of the job";
  const std::vector<char> of_the_parent(200 << 20, 'p');
  const JobEnd job_end = run_with_memory(64 << 20, [](Child &child) {
    const std::vector<char> own(30 << 20, 'c');
    child.reply(std::string_view(own.data(), 3));
  });
  EXPECT_EQ(job_end.reply, "ccc");
}

TEST(Sandbox, KnowsLibTorchsWordsForOutOfMemory) {
  const Job job = [](Child &) {
    throw std::runtime_error("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4 bytes.");
  };
  if (!with_asan) {
    EXPECT_EQ(run_with_memory(64 << 20, job).ending, Ending::OutOfMemory);
  }
  EXPECT_EQ(run(job).ending, Ending::Threw) << "without a limit it is an exception like any other";
}

TEST(Sandbox, HearsAJobThatClosedEveryDescriptor) {
  const JobEnd job_end = run([](Child &child) {
    close_everything();
    std::this_thread::sleep_for(20ms);
    child.reply("still here");
  });
  EXPECT_EQ(job_end.ending, Ending::Replied);
  EXPECT_EQ(job_end.reply, "still here");
}

TEST(Sandbox, StopsAJobThatClosedEveryDescriptorAndHangs) {
  const Job job = [](Child &) {
    close_everything();
    sleep_for_ever();
  };
  EXPECT_EQ(run_in_sandbox(job, within(100ms)).ending, Ending::TimedOut);
}

TEST(Sandbox, TellsAKillFromOutsideFromACrash) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
    const SharedNumber pid;
    std::thread killer([&] {
      while (*pid == 0)
        std::this_thread::sleep_for(1ms);
      kill(*pid, signal);
    });
    const JobEnd job_end = run([&](Child &) {
      *pid = getpid();
      sleep_for_ever();
    });
    killer.join();
    EXPECT_EQ(job_end.ending, Ending::Killed) << signal;
    EXPECT_EQ(job_end.signal, signal);
  }
}

TEST(Sandbox, TakesGrandchildrenAlong) {
  const SharedNumber grandchild;
  const Job job = [&](Child &child) {
    const pid_t pid = fork();
    if (pid == 0)
      sleep_for_ever(); // holds every descriptor
    *grandchild = pid;
    child.reply("done");
  };
  EXPECT_EQ(run_in_sandbox(job, {}).ending, Ending::Replied); // no limit: waiting for the grandchild would never end
  EXPECT_TRUE(goes_away(*grandchild));
}

TEST(Sandbox, TakesGrandchildrenOfAHangingJobAlong) {
  const SharedNumber grandchild;
  const Job job = [&](Child &) {
    const pid_t pid = fork();
    if (pid != 0)
      *grandchild = pid;
    sleep_for_ever();
  };
  EXPECT_EQ(run_in_sandbox(job, within(1s)).ending, Ending::TimedOut);
  ASSERT_NE(*grandchild, 0);
  EXPECT_TRUE(goes_away(*grandchild));
}

TEST(Sandbox, GivesACopyOfTheJobNoSay) {
  const JobEnd job_end = run([](Child &child) {
    const pid_t pid = fork();
    if (pid == 0)
      throw std::runtime_error("from the copy");
    waitpid(pid, nullptr, 0);
    child.reply("from the job");
  });
  EXPECT_EQ(job_end.ending, Ending::Replied);
  EXPECT_EQ(job_end.reply, "from the job");
  EXPECT_EQ(job_end.message, "");
}

TEST(Sandbox, TellsTheExitCode) {
  for (const Job &job : {Job([](Child &) { exit(3); }), Job([](Child &) { _exit(3); })}) {
    const JobEnd job_end = run(job);
    EXPECT_EQ(job_end.ending, Ending::Exited);
    EXPECT_EQ(job_end.exit_code, 3);
  }
}

TEST(Sandbox, RunsNoExitHandlerOfTheParent) {
  static const SharedNumber calls;
  static const pid_t owner = getpid();
  atexit([] {
    if (getpid() != owner)
      ++*calls;
  });
  EXPECT_EQ(run([](Child &) { exit(0); }).ending, Ending::Exited);
  EXPECT_EQ(run([](Child &) {}).ending, Ending::Replied);
  EXPECT_EQ(*calls, 0);
}

TEST(Sandbox, RunsAProgramThatReplacesTheJob) {
  const JobEnd job_end = run([](Child &) { execlp("sh", "sh", "-c", "echo out; echo err >&2; exit 5", nullptr); });
  EXPECT_EQ(job_end.ending, Ending::Exited);
  EXPECT_EQ(job_end.exit_code, 5);
  EXPECT_EQ(job_end.output_tail, "out\nerr\n");
}

TEST(Sandbox, KeepsTheEndOfTheOutput) {
  const JobEnd job_end = run([](Child &) {
    std::printf("printf\n");
    std::cout << "cout\n";
    std::cerr << "cerr\n";
    std::printf("no newline");
  });
  EXPECT_EQ(job_end.ending, Ending::Replied);
  EXPECT_EQ(job_end.output_tail, "printf\ncout\ncerr\nno newline");
}

TEST(Sandbox, KeepsTheOutputBeforeACrash) {
  const JobEnd job_end = run([](Child &) {
    std::printf("last words\n");
    raise(SIGSEGV);
  });
  EXPECT_EQ(job_end.output_tail, "last words\n");
}

TEST(Sandbox, HasNoInput) {
  EXPECT_EQ(run([](Child &child) { child.reply(std::getchar() == EOF ? "end" : "something"); }).reply, "end");
}

TEST(Sandbox, TakesMuchOutput) {
  const JobEnd job_end = run([](Child &child) {
    const std::string block(1 << 20, 'o');
    for (int i = 0; i < 100; ++i)
      std::cout << block;
    std::cout << "the end";
    child.reply("written");
  });
  EXPECT_EQ(job_end.reply, "written");
  EXPECT_EQ(job_end.output_tail, std::string(4096 - 7, 'o') + "the end");
}

TEST(Sandbox, StopsAJobThatWritesForEver) {
  const Job job = [](Child &) {
    const std::string block(1 << 16, 'o');
    for (;;)
      if (write(STDOUT_FILENO, block.data(), block.size()) < 0)
        return;
  };
  const JobEnd job_end = run_in_sandbox(job, within(1s));
  EXPECT_EQ(job_end.ending, Ending::TimedOut);
  EXPECT_EQ(job_end.output_tail.size(), 4096U);
}

TEST(Sandbox, RefusesAReplyThatIsTooLong) {
  Limits limits = within(30s);
  limits.reply_capacity = 10;
  const Job job = [](Child &child) {
    child.reply("12345");
    child.reply("67890");
    child.reply("1");
  };
  const JobEnd job_end = run_in_sandbox(job, limits);
  EXPECT_EQ(job_end.ending, Ending::Threw);
  EXPECT_NE(job_end.message.find("longer than the 10 bytes"), std::string::npos) << job_end.message;
  EXPECT_EQ(job_end.reply, "");
}

TEST(Sandbox, TakesAReplyOfHundredsOfMegabytes) {
  Limits limits = within(60s);
  limits.reply_capacity = std::size_t{16} << 30;
  constexpr std::size_t block_bytes = 10'000'000;
  const Job job = [](Child &child) {
    std::string block(block_bytes, '\0');
    for (char name = 'a'; name < 'a' + 20; ++name) {
      std::fill(block.begin(), block.end(), name);
      child.reply(block);
    }
  };
  const JobEnd job_end = run_in_sandbox(job, limits);
  ASSERT_EQ(job_end.ending, Ending::Replied);
  ASSERT_EQ(job_end.reply.size(), 20 * block_bytes);
  for (std::size_t i = 0; i < 20; ++i) {
    const std::string_view block = std::string_view(job_end.reply).substr(i * block_bytes, block_bytes);
    EXPECT_EQ(block.find_first_not_of(static_cast<char>('a' + i)), std::string_view::npos);
  }
}

TEST(Sandbox, RunsThreads) {
  const JobEnd job_end = run([](Child &child) {
    std::vector<long> sums(8);
    std::vector<std::thread> threads;
    for (long &sum : sums)
      threads.emplace_back([&sum] {
        for (int i = 0; i < 1000; ++i)
          sum += i;
      });
    for (std::thread &thread : threads)
      thread.join();
    child.reply(std::to_string(std::accumulate(sums.begin(), sums.end(), 0L)));
  });
  EXPECT_EQ(job_end.reply, std::to_string(8 * 499500));
}

TEST(Sandbox, EndsThoughAThreadGoesOn) {
  const JobEnd job_end = run([](Child &child) {
    std::thread([] { sleep_for_ever(); }).detach();
    child.reply("done");
  });
  EXPECT_EQ(job_end.reply, "done");
}

TEST(Sandbox, WorksInsideASandbox) {
  const JobEnd job_end = run([](Child &child) {
    const JobEnd inner = run([](Child &grandchild) {
      grandchild.stage("inner");
      raise(SIGSEGV);
    });
    child.reply(inner.stage + " " + to_string(inner.ending));
  });
  EXPECT_EQ(job_end.reply, "inner crashed");
}

TEST(Sandbox, DiesWithItsParent) {
  const SharedNumber inner;
  run([&](Child &) {
    TaskGroup pool(1);
    pool.submit(
        [&](Child &) {
          setsid(); // out of reach of the kill that takes grandchildren along
          *inner = getpid();
          sleep_for_ever();
        },
        {});
    while (*inner == 0)
      std::this_thread::sleep_for(1ms);
    _exit(0);
  });
  EXPECT_TRUE(goes_away(*inner));
  waitpid(*inner, nullptr, WNOHANG); // it had lost its parent and become this process's child
}

TEST(Sandbox, SaysSoWhenItCannotFork) {
  const JobEnd job_end = run([](Child &child) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NPROC, &none);
    if (geteuid() == 0 && setuid(65534) != 0) // root has no such limit
      _exit(1);
    const JobEnd inner = run([](Child &) {});
    child.reply(std::string(to_string(inner.ending)) + " " + std::to_string(inner.exit_code) + " " + inner.message);
  });
  EXPECT_EQ(job_end.reply.rfind("exited -1 the child process could not be started: fork failed", 0), 0U)
      << job_end.reply << job_end.message;
}

TEST(Sandbox, SaysSoWhenThereAreNoDescriptors) {
  if (with_asan)
    GTEST_SKIP() << "UndefinedBehaviorSanitizer looks at objects through a pipe of its own";
  const JobEnd job_end = run([](Child &child) {
    const rlimit few{8, 8};
    setrlimit(RLIMIT_NOFILE, &few);
    while (dup(0) >= 0) {
    }
    child.reply(run([](Child &) {}).message);
  });
  EXPECT_EQ(job_end.reply.rfind("the child process could not be started: no pipe", 0), 0U)
      << job_end.reply << job_end.output_tail;
}

TEST(Sandbox, LeavesNoDescriptorOpen) {
  const auto lowest_free = [] {
    const int descriptor = dup(0);
    close(descriptor);
    return descriptor;
  };
  const int before = lowest_free();
  for (int i = 0; i < 5; ++i)
    run([](Child &) { raise(SIGSEGV); });
  EXPECT_EQ(lowest_free(), before);
}

} // namespace
} // namespace repro_minify
