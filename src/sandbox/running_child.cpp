#include "sandbox/running_child.h"

#include "sandbox/child.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

using Clock = std::chrono::steady_clock;
constexpr off_t tail_bytes = 4096;

/// A machine that is out of processes for a moment is not a reason to lose a run of hours.
pid_t patient_fork() {
  for (int attempt = 0;; ++attempt) {
    const pid_t pid = fork();
    if (pid >= 0 || attempt == 5)
      return pid;
    std::this_thread::sleep_for(std::chrono::milliseconds(50 << attempt));
  }
}

} // namespace

RunningChild::RunningChild(const Job &job, const Limits &limits)
    : memory_(limits.reply_capacity), limited_memory_(limits.memory_bytes != 0), begin_(Clock::now()) {
  int ends[2];
  output_ = memfd_create("sandbox output", MFD_CLOEXEC);
  if (output_ < 0 || pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error("a sandbox cannot be made: out of file descriptors");
  std::fflush(nullptr); // else the child would print what is buffered here once more
  const int parent = getpid();
  pid_ = patient_fork();
  if (pid_ == 0) {
    close(ends[0]);
    run_child(job, limits, memory_, output_, parent);
  }
  close(ends[1]);
  wake_ = ends[0];
  if (pid_ < 0) {
    close(wake_);
    close(output_);
    throw std::runtime_error("a sandbox cannot be made: fork failed");
  }
  setpgid(pid_, pid_); // both sides do it, whoever comes first
  if (limits.timeout.count() > 0)
    deadline_ = begin_ + limits.timeout;
}

RunningChild::~RunningChild() {
  if (pid_ > 0) {
    kill_group();
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  stop_watching_descriptor();
  if (output_ >= 0)
    close(output_);
}

void RunningChild::kill_group() const { kill(-pid_, SIGKILL); }

void RunningChild::stop_watching_descriptor() {
  if (wake_ >= 0)
    close(wake_);
  wake_ = -1;
}

std::optional<Outcome> RunningChild::poll() {
  int status = 0;
  rusage usage{};
  const pid_t ended = wait4(pid_, &status, WNOHANG, &usage);
  if (ended == 0) {
    if (deadline_ && !timed_out_ && Clock::now() >= *deadline_) {
      timed_out_ = true;
      kill_group();
      kill(pid_, SIGKILL);
    }
    return std::nullopt;
  }
  kill_group(); // whatever the job left running
  Outcome outcome = outcome_of(status, static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
  pid_ = -1;
  return outcome;
}

Outcome RunningChild::outcome_of(int status, std::uint64_t peak_rss) {
  const auto &head = memory_.head();
  Outcome outcome;
  outcome.wall = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin_);
  outcome.peak_rss_bytes = peak_rss;
  outcome.stage = head.stage;
  outcome.output_tail = output_tail();
  if (const auto done = head.done.load()) {
    outcome.ending = static_cast<Ending>(done - 1);
    outcome.message.assign(head.message, head.message_size);
    if (outcome.ending == Ending::Replied)
      outcome.reply.assign(memory_.reply(), head.size);
  } else if (WIFSIGNALED(status)) {
    outcome.signal = WTERMSIG(status);
    const bool from_outside = outcome.signal == SIGKILL || outcome.signal == SIGTERM || outcome.signal == SIGINT || outcome.signal == SIGHUP;
    outcome.ending = timed_out_ ? Ending::TimedOut : from_outside ? Ending::Killed : Ending::Crashed;
    // An allocation that fails where nobody can catch it ends in abort or in a null pointer.
    if (outcome.ending == Ending::Crashed && limited_memory_ && outcome.output_tail.find("bad_alloc") != std::string::npos)
      outcome.ending = Ending::OutOfMemory;
  } else {
    outcome.exit_code = WEXITSTATUS(status);
    outcome.ending = timed_out_ ? Ending::TimedOut : Ending::Exited;
  }
  return outcome;
}

std::string RunningChild::output_tail() const {
  const off_t size = lseek(output_, 0, SEEK_END);
  const off_t from = size > tail_bytes ? size - tail_bytes : 0;
  std::string tail(static_cast<size_t>(size > 0 ? size - from : 0), '\0');
  const ssize_t got = pread(output_, tail.data(), tail.size(), from);
  tail.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return tail;
}

} // namespace repro_minify
