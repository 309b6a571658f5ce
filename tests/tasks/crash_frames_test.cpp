// Where a job crashed, as its parent learns it.
#include "jobs.h"

#include "tasks/crash_frames.h"
#include "test_paths.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include <alloca.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// The sanitizers would end the process in their own way before a signal does.
#ifdef __clang__
#define CRASHES __attribute__((noinline, no_sanitize("address", "undefined")))
#else
#define CRASHES __attribute__((noinline, noclone, no_sanitize("address", "undefined")))
#endif

/// Not in the anonymous namespace: the dynamic linker has to know their names. What follows a call in them is there so
/// that the call is none the compiler makes a jump of.
namespace crash_frames_test {

int *volatile nowhere = nullptr;
volatile int zero = 0;
volatile int after_call = 0;

CRASHES void write_to_null() {
  *nowhere = 1;
}

CRASHES void outer() {
  write_to_null();
  after_call = 1;
}

CRASHES void divide_by_zero() {
  after_call = 100 / zero; // of 1 the compiler would make a comparison
}

CRASHES void call_abort() {
  std::abort();
}

CRASHES void raise_signal(int signal) {
  raise(signal);
  after_call = 1;
}

CRASHES void send_signal() {
  kill(getpid(), SIGSEGV);
  after_call = 1;
}

CRASHES void execute_nothing() {
  __builtin_trap();
}

CRASHES void throw_something() {
  throw std::runtime_error("thrown");
}

CRASHES void throw_where_nothing_may_be_thrown() noexcept {
  throw_something();
}

CRASHES int go_down(volatile char *above);
int (*volatile further_down)(volatile char *) = go_down; // the compiler must not see that this never ends

CRASHES int go_down(volatile char *above) {
  volatile char frame[4096];
  frame[0] = above ? above[0] : '\0';
  return further_down(frame) + frame[0];
}

void (*volatile null_function)() = nullptr;

CRASHES void call_null_function() {
  null_function();
  after_call = 1;
}

template <typename T> struct Kernel {
  CRASHES void operator()(T value) const {
    write_to_null();
    after_call = static_cast<int>(value);
  }
};
template struct Kernel<float>;

#ifdef __x86_64__
/// The callers of this one cannot be found: it has lost where its own frame is.
CRASHES void lose_the_stack(std::size_t size) {
  auto *room = static_cast<volatile char *>(alloca(size)); // the frame has to be found by rbp
  room[0] = 1;
  asm volatile("mov $8, %%rbp\n\tmovl $1, 0" ::: "memory");
}
#endif

} // namespace crash_frames_test

namespace repro_minify::sandbox_test {
namespace {

using namespace crash_frames_test;
using Names = std::vector<std::string>;

JobEnd expect_crash(const Job &job, int signal) {
  JobEnd job_end = run(job);
  EXPECT_EQ(job_end.ending, Ending::Crashed) << job_end.output_tail;
  EXPECT_EQ(job_end.signal, signal);
  EXPECT_LE(job_end.frames.size(), 8U);
  return job_end;
}

bool contains(const Names &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string innermost(const JobEnd &job_end) {
  return job_end.frames.empty() ? "no frames" : job_end.frames.front();
}

void expect_innermost(const std::string &function, const Job &job, int signal) {
  EXPECT_EQ(innermost(expect_crash(job, signal)), "crash_frames_test::" + function);
}

TEST(SandboxCrashFrames, TellWhereTheJobWroteToNull) {
  const auto frames = expect_crash([](Child &) { outer(); }, SIGSEGV).frames;
  ASSERT_GE(frames.size(), 2U);
  EXPECT_EQ(frames[0], "crash_frames_test::write_to_null");
  EXPECT_EQ(frames[1], "crash_frames_test::outer");
}

TEST(SandboxCrashFrames, HaveNoTemplateArguments) {
  const auto frames = expect_crash([](Child &) { Kernel<float>()(1.0F); }, SIGSEGV).frames;
  ASSERT_GE(frames.size(), 2U);
  EXPECT_EQ(frames[1], "crash_frames_test::Kernel::operator()");
}

TEST(SandboxCrashFrames, AreTheSameEachTime) {
  TaskGroup pool(2);
  const Job job = [](Child &) { outer(); };
  const auto first = pool.submit(job, within(30s));
  const auto frames = pool.wait(first)->frames;
  EXPECT_FALSE(frames.empty());
  for (int i = 0; i < 10; ++i) {
    const auto direct = pool.submit(job, within(30s));
    const auto other = pool.submit(reply_hello, within(30s));
    const auto queued = pool.submit(job, within(30s)); // forked from elsewhere in the pool
    EXPECT_EQ(pool.wait(direct)->frames, frames);
    EXPECT_EQ(pool.wait(queued)->frames, frames);
    EXPECT_EQ(pool.wait(other)->frames, Names());
  }
}

TEST(SandboxCrashFrames, AreThoseOfTheJobAlone) {
  const auto frames = run([](Child &) { outer(); }).frames;
  for (const std::string &frame : frames)
    EXPECT_EQ(frame.find("repro_minify::ChildProcess"), std::string::npos) << frame;
  EXPECT_FALSE(contains(frames, "main"));
}

TEST(SandboxCrashFrames, BeginWithWhatRaisedTheSignal) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    expect_innermost(
        "raise_signal", [signal](Child &) { raise_signal(signal); }, signal);
  expect_innermost(
      "call_abort", [](Child &) { call_abort(); }, SIGABRT);
  expect_innermost(
      "send_signal", [](Child &) { send_signal(); }, SIGSEGV);
}

TEST(SandboxCrashFrames, BeginWithTheInstructionThatFailed) {
#ifdef __x86_64__
  expect_innermost(
      "divide_by_zero", [](Child &) { divide_by_zero(); }, SIGFPE);
  expect_innermost(
      "execute_nothing", [](Child &) { execute_nothing(); }, SIGILL);
#endif
}

TEST(SandboxCrashFrames, OfAStackOverflowAreThoseAtItsTop) {
  const auto frames = expect_crash([](Child &) { std::_Exit(go_down(nullptr)); }, SIGSEGV).frames;
  EXPECT_EQ(frames, Names(8, "crash_frames_test::go_down"));
}

TEST(SandboxCrashFrames, OfAnExceptionBeginWithTheThrow) {
  const Job job = [](Child &) { std::thread(throw_something).join(); };
  expect_innermost("throw_something", job, SIGABRT);
  EXPECT_EQ(run(job).message, "thrown");
  EXPECT_EQ(run([](Child &) { throw_something(); }).frames, Names()) << "an exception is no crash";
#ifndef __clang__ // what it calls then has no unwind table, so that no frame beyond is found
  const auto frames = run([](Child &) { throw_where_nothing_may_be_thrown(); }).frames;
  EXPECT_TRUE(contains(frames, "crash_frames_test::throw_where_nothing_may_be_thrown"));
#endif
}

TEST(SandboxCrashFrames, AreKnownOfAnyThread) {
  expect_innermost(
      "write_to_null", [](Child &) { std::thread(outer).join(); }, SIGSEGV);
  expect_innermost(
      "call_abort", [](Child &) { std::thread(call_abort).join(); }, SIGABRT);
}

TEST(SandboxCrashFrames, AreThoseOfOneThreadWhenManyCrash) {
  const Job job = [](Child &) {
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i)
      threads.emplace_back(i % 2 ? outer : call_abort);
    for (std::thread &thread : threads)
      thread.join();
  };
  for (int i = 0; i < 20; ++i) {
    const JobEnd job_end = run(job);
    EXPECT_EQ(job_end.ending, Ending::Crashed);
    const bool aborted = job_end.signal == SIGABRT;
    EXPECT_EQ(innermost(job_end), aborted ? "crash_frames_test::call_abort" : "crash_frames_test::write_to_null");
  }
}

TEST(SandboxCrashFrames, BeyondACallThatLeadsNowhereAreThoseOfTheCaller) {
  const auto frames = expect_crash([](Child &) { call_null_function(); }, SIGSEGV).frames;
  ASSERT_GE(frames.size(), 2U);
  EXPECT_EQ(frames[0], "?");
  EXPECT_EQ(frames[1], "crash_frames_test::call_null_function");
}

TEST(SandboxCrashFrames, AreKnownInALibraryThatTheJobLoaded) {
  const Job job = [](Child &) {
    void *library = dlopen(test_paths::crashing_library, RTLD_NOW);
    reinterpret_cast<void (*)()>(dlsym(library, "crash_in_library"))();
    after_call = 1;
  };
  const auto frames = expect_crash(job, SIGSEGV).frames;
  ASSERT_GE(frames.size(), 2U);
  EXPECT_EQ(frames[0], "crashing_library::write_to_null");
  EXPECT_EQ(frames[1], "crash_in_library");
}

TEST(SandboxCrashFrames, NeedNoDescriptor) {
  const Job job = [](Child &) {
    close_every_descriptor();
    outer();
  };
  expect_innermost("write_to_null", job, SIGSEGV);
}

TEST(SandboxCrashFrames, NeedNoMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "its shadow counts as memory";
#endif
  Limits limits = within(30s);
  limits.memory_bytes = 1 << 20;
  const Job job = [](Child &child) {
    for (void *volatile block = &child; block;)
      block = std::malloc(1 << 10);
    child.stage("nothing is left");
    outer();
  };
  EXPECT_EQ(innermost(run_in_sandbox(job, limits)), "crash_frames_test::write_to_null");
}

TEST(SandboxCrashFrames, AreNotThereWhenTheJobHandlesTheSignal) {
  const JobEnd left = run([](Child &) {
    signal(SIGSEGV, [](int) { _exit(7); });
    outer();
  });
  EXPECT_EQ(left.ending, Ending::Exited);
  EXPECT_EQ(left.exit_code, 7);
  EXPECT_EQ(left.frames, Names());
  const JobEnd ended_by_default = expect_crash(
      [](Child &) {
        signal(SIGSEGV, SIG_DFL);
        outer();
      },
      SIGSEGV);
  EXPECT_EQ(ended_by_default.frames, Names());
}

sigjmp_buf way_back;

TEST(SandboxCrashFrames, AreNotThereWhenTheJobRecovers) {
  const JobEnd job_end = run([](Child &child) {
    signal(SIGSEGV, [](int) { siglongjmp(way_back, 1); });
    if (sigsetjmp(way_back, 1) == 0)
      outer();
    child.reply("recovered");
  });
  EXPECT_EQ(job_end.reply, "recovered");
  EXPECT_EQ(job_end.frames, Names());
}

TEST(SandboxCrashFrames, AreNotThoseOfACopyOfTheJob) {
  const Job job = [](Child &) {
    const pid_t copy = fork();
    if (copy == 0)
      outer();
    waitpid(copy, nullptr, 0);
    raise_signal(SIGUSR1); // which has no handler
  };
  EXPECT_EQ(expect_crash(job, SIGUSR1).frames, Names());
}

TEST(SandboxCrashFrames, AreKnownInsideASandboxAndAfterIt) {
  const Job job = [](Child &child) {
    child.stage(innermost(run([](Child &) { call_abort(); })));
    outer();
  };
  const JobEnd job_end = expect_crash(job, SIGSEGV);
  EXPECT_EQ(job_end.stage, "crash_frames_test::call_abort");
  EXPECT_EQ(innermost(job_end), "crash_frames_test::write_to_null");
}

TEST(SandboxCrashFrames, EndWhereTheStackIsLost) {
#ifdef __x86_64__
  for (int i = 0; i < 3; ++i) {
    const auto frames = expect_crash([](Child &) { lose_the_stack(64); }, SIGSEGV).frames;
    EXPECT_EQ(frames, Names({"crash_frames_test::lose_the_stack"}));
  }
#endif
}

TEST(SandboxCrashFrames, DoNotKeepACrashFromEndingTheJob) {
  const Job job = [](Child &) {
    dlopen(test_paths::crashing_library, RTLD_NOW); // so that the handler has to ask for names, which takes the lock
    const auto crash_with_the_lock = [](dl_phdr_info *, std::size_t, void *) {
      std::thread(outer).join();
      return 1;
    };
    dl_iterate_phdr(crash_with_the_lock, nullptr);
  };
  expect_innermost("write_to_null", job, SIGSEGV); // and the time limit has not ended it
}

using Frames = std::vector<SharedArea::Frame>;

Names names_of(const Names &symbols) {
  Frames frames;
  for (const std::string &symbol : symbols)
    frames.push_back({nullptr, symbol});
  return FrameNames().of(frames);
}

TEST(FrameNames, LeaveOutTheWayFromTheCrashToItsSignal) {
  EXPECT_EQ(names_of({"", "gsignal", "abort", "f", "", "g"}), Names({"f", "?", "g"}));
  EXPECT_EQ(names_of({"", "raise", "abort", "", "__assert_fail", "_ZN1a1fEv"}), Names({"a::f"}));
  EXPECT_EQ(names_of({"", "raise", "abort", "", "_ZN10__cxxabiv111__terminateEPFvvE", "_ZSt9terminatev", "__cxa_throw",
                      "_Z1fIiEvT_"}),
            Names({"f"}));
  EXPECT_EQ(names_of({"", "raise", "abort", "", "", "", "free", "f"}), Names({"?", "?", "?", "free", "f"}));
}

TEST(FrameNames, LeaveOutSanitizersEverywhere) {
  EXPECT_EQ(names_of({"__interceptor_memcpy", "f", "", "_ZN6__asan10AsanThread11ThreadStartEy"}), Names({"f", "?"}));
}

TEST(FrameNames, StayNamelessAboveAName) {
  EXPECT_EQ(names_of({"", "", "f", "raise", "g"}), Names({"?", "?", "f", "g"}));
  EXPECT_EQ(names_of({"", ""}), Names({"?", "?"}));
  EXPECT_EQ(names_of({"", "raise"}), Names());
  EXPECT_EQ(names_of({}), Names());
}

TEST(FrameNames, AreEightAtMost) {
  EXPECT_EQ(names_of(Names(24, "f")), Names(8, "f"));
}

TEST(FrameNames, TakeACFunctionForWhatItIs) {
  EXPECT_EQ(names_of({"f", "i", "_Zebra"}), Names({"f", "i", "_Zebra"})) << "not float, not int";
}

TEST(FrameNames, SurviveAnything) {
  EXPECT_EQ(names_of({"\xff\xff", "\x01", "f\n", std::string(1023, '<')}), Names({"?", "?", "?", "?"}));
  EXPECT_EQ(FrameNames().of({{std::bit_cast<const void *>(UINTPTR_MAX), ""}, {"text", ""}}), Names({"?", "?"}));
}

} // namespace
} // namespace repro_minify::sandbox_test
