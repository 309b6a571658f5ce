// Jobs and helpers that several tests of the sandbox use.
#pragma once
#include "repro_minify/sandbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <ostream>
#include <string>

#include <dirent.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {

inline void PrintTo(Ending ending, std::ostream *stream) {
  *stream << to_string(ending);
}

namespace sandbox_test {

using namespace std::chrono_literals;

inline Limits within(std::chrono::milliseconds timeout) {
  Limits limits;
  limits.timeout = timeout;
  return limits;
}

/// No test's job needs this long: a sandbox that never comes back fails instead of hanging.
inline JobEnd run(const Job &job) {
  return run_in_sandbox(job, within(30s));
}

inline void reply_hello(Child &child) {
  child.reply("hello");
}

[[noreturn]] inline void hang(Child &) {
  for (;;)
    pause();
}

[[noreturn]] inline void abort_now(Child &) {
  std::abort();
}

inline void close_every_descriptor() {
  for (int descriptor = 0, end = static_cast<int>(sysconf(_SC_OPEN_MAX)); descriptor < end; ++descriptor)
    close(descriptor);
}

inline int open_descriptors() {
  int count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (readdir(directory))
    ++count;
  closedir(directory);
  return count;
}

inline void expect_no_children() {
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child runs, or is a zombie";
  EXPECT_EQ(errno, ECHILD);
}

/// A number that parent and children share.
class SharedNumber {
public:
  SharedNumber()
      : number_(new (mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                    std::atomic<int>(0)) {}
  ~SharedNumber() { munmap(number_, sizeof *number_); }
  SharedNumber(const SharedNumber &) = delete;
  SharedNumber &operator=(const SharedNumber &) = delete;
  std::atomic<int> &operator*() const { return *number_; }

private:
  std::atomic<int> *number_;
};

/// A pipe that processes inherit: its end tells that the last of them is gone.
class LifeLine {
public:
  LifeLine() { EXPECT_EQ(pipe(ends_), 0); }
  ~LifeLine() {
    let_go();
    close(ends_[0]);
  }
  LifeLine(const LifeLine &) = delete;
  LifeLine &operator=(const LifeLine &) = delete;

  void write(std::string_view bytes) const {
    EXPECT_EQ(::write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// Waits for one byte; 0 = none came.
  char read() const { return readable() && ::read(ends_[0], &byte_, 1) == 1 ? byte_ : '\0'; }

  /// This process holds the pipe no longer.
  void let_go() {
    if (ends_[1] >= 0)
      close(ends_[1]);
    ends_[1] = -1;
  }
  /// Waits until no process holds the pipe any more.
  bool everyone_is_gone() {
    let_go();
    return readable() && ::read(ends_[0], &byte_, 1) == 0;
  }

private:
  /// The time is there for a sandbox that leaves processes behind, so that the test fails and does not hang.
  bool readable() const {
    pollfd descriptor{ends_[0], POLLIN, 0};
    return ::poll(&descriptor, 1, 120'000) == 1;
  }

  int ends_[2];
  mutable char byte_ = '\0';
};

} // namespace sandbox_test
} // namespace repro_minify
