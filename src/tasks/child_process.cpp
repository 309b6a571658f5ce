#include "tasks/child_process.h"

#include "core/signals_blocked.h"
#include "repro_minify/sandbox.h"
#include "tasks/crash_frames.h"
#include "tasks/descendants.h"
#include "tasks/sandbox.h"
#include "tasks/time_limit.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/mman.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace repro_minify {
namespace {

constexpr std::size_t kept_bytes = 4096;

void keep_end(std::string &text, std::string_view more) {
  if (more.size() >= kept_bytes) {
    text = more.substr(more.size() - kept_bytes);
    return;
  }
  text += more;
  if (text.size() > kept_bytes)
    text.erase(0, text.size() - kept_bytes);
}

using namespace std::chrono_literals;

/// A child that has been killed and is still there after this time hangs in the kernel, in a driver for instance.
constexpr auto patience = 10s;

/// Throws std::system_error.
std::pair<int, int> pair_of_sockets() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "no socket for a child process");
  return {ends[0], ends[1]};
}

/// Asks the kernel to hold the heap of this process in pages of 2 MB: each child that is forked gets a copy of the
/// table of pages, which is then 500 times smaller. Does it once; a kernel that has no such pages is left alone.
void use_large_pages() {
  static bool done = false;
  if (std::exchange(done, true))
    return;
  std::ifstream maps("/proc/self/maps"); // "55d0c1a2b000-55d0c5a2b000 rw-p 00000000 00:00 0   [heap]"
  for (std::string line; std::getline(maps, line);) {
    void *from = nullptr, *to = nullptr;
    if (!line.ends_with("[heap]") || std::sscanf(line.c_str(), "%p-%p", &from, &to) != 2)
      continue;
    const std::size_t size = static_cast<char *>(to) - static_cast<char *>(from);
    madvise(from, size, MADV_HUGEPAGE);
    madvise(from, size, MADV_COLLAPSE);
  }
}

/// Both ends close on exec; the parent's end never blocks. Throws std::system_error.
void make_pipe(int &read_end, int &write_end) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "no pipe for a child process");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  read_end = ends[0];
  write_end = ends[1];
}

/// Closes it unless it is -1, and sets it to -1.
void close_descriptor(int &descriptor) {
  if (descriptor >= 0)
    close(descriptor);
  descriptor = -1;
}

} // namespace

OutputTail::OutputTail() {
  make_pipe(read_end_, write_end_);
}

OutputTail::~OutputTail() {
  close_descriptor(read_end_);
  close_descriptor(write_end_);
}

void OutputTail::close_write_end() {
  close_descriptor(write_end_);
}

void OutputTail::drain() {
  std::array<char, 64u << 10> chunk; // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
  for (int round = 0; round < 64 && read_end_ >= 0; ++round) {
    const ssize_t size = ::read(read_end_, chunk.data(), chunk.size());
    if (size > 0)
      keep_end(text_, {chunk.data(), static_cast<std::size_t>(size)});
    else if (size == 0)
      close_descriptor(read_end_);
    else if (errno != EINTR)
      return;
  }
}

ChildProcess::ChildProcess(const Job &job, const Limits &limits, FrameNames &frame_names)
    : area_(limits.reply_capacity), frame_names_(frame_names), service_(job.service()), started_(Clock::now()) {
  ChildEnds ends{.output = output_.write_end(), .end = -1, .questions = -1, .parent = getpid(), .forked = {}};
  const auto close_what_is_the_childs = [&] {
    close_descriptor(ends.end);
    close_descriptor(ends.questions);
    output_.close_write_end();
  };
  make_pipe(end_, ends.end);
  try {
    if (service_)
      std::tie(questions_, ends.questions) = pair_of_sockets();
    pid_ = fork_child(job, limits, ends);
  } catch (...) { // there is no destructor for half an object
    close_what_is_the_childs();
    close_descriptor(end_);
    close_descriptor(questions_);
    throw;
  }
  const int error = errno;
  close_what_is_the_childs();
  if (pid_ < 0) {
    close_descriptor(end_);
    close_descriptor(questions_);
    throw std::system_error(error, std::generic_category(), "fork failed");
  }
  setpgid(pid_, pid_); // the child does it too: either may come first
  area_.hide_from_later_children();
  allow_for_load_ = limits.allow_for_load;
  if (limits.timeout > 0ms)
    limit_ = TimeLimit{started_, started_ + limits.timeout};
}

/// A machine that has no room for another process may have some a moment later.
pid_t ChildProcess::fork_child(const Job &job, const Limits &limits, ChildEnds &ends) {
  prepare_crash_handler();
  prepare_confinement();
  adopt_what_checks_leave();
  use_large_pages();
  const AllSignalsBlocked blocked; // a handler of this process must not run in the child
  for (auto pause = 10ms;; pause *= 2) {
    ends.forked = started_ = Clock::now();
    const pid_t pid = fork();
    if (pid == 0)
      run_child(job, limits, area_, ends);
    if (pid > 0 || pause > 100ms)
      return pid;
    std::this_thread::sleep_for(pause);
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill(Ending::Cancelled);
    while (!try_reap())
      std::this_thread::sleep_for(200us);
  }
  close_descriptor(end_);
  close_descriptor(questions_);
}

ProcessorUse ChildProcess::use_so_far() const {
  std::vector<pid_t> work = {pid_};
  if (const pid_t helper = area_.helper())
    work.push_back(helper);
  return use_with_descendants(std::move(work));
}

bool ChildProcess::overdue(Clock::time_point now) const {
  return !killed_for_ && !waits_ && is_late(now, [this] { return use_so_far(); });
}

bool ChildProcess::ask(const Job &job, const Limits &limits) {
  try {
    if (!area_.put_question(job.question(), limits.timeout))
      return false;
  } catch (const std::exception &) { // in a child of its own it can be told
    return false;
  }
  output_.restart();
  expected_end_.reset();
  started_ = Clock::now();
  limit_.reset();
  if (limits.timeout > 0ms)
    limit_ = TimeLimit{started_, started_ + limits.timeout, use_so_far()};
  waits_ = false;
  was_kept_ = true;
  const char byte = 0;
  return send(questions_, &byte, 1, MSG_NOSIGNAL) == 1; // one that has gone is no reason to end
}

/// However late that is seen: what a child comes to does not depend on when its parent looks.
bool ChildProcess::ended_late() const {
  const Clock::time_point ended{std::chrono::nanoseconds(area_.ended_at_ns())};
  if (ended < started_ || ended > Clock::now()) // not known, or scribbled over
    return false;
  return is_late(ended, [this] { return area_.use_at_end(); });
}

template <typename Use> bool ChildProcess::is_late(Clock::time_point now, const Use &use) const {
  const auto own = area_.own_limit();
  return (limit_ && limit_->is_over(now, allow_for_load_, use)) || (own && own->is_over(now, allow_for_load_, use));
}

void ChildProcess::fill(pollfd *entries) const {
  entries[0] = {end_, POLLIN, 0};
  entries[1] = {output_.read_end(), POLLIN, 0};
}

void ChildProcess::read(const pollfd *entries) {
  if (entries[1].revents)
    output_.drain();
  if (!entries[0].revents)
    return;
  char byte = 0;
  if (service_ && ::read(end_, &byte, 1) == 1)
    return; // an answer is there
  close_descriptor(end_);
  if (!expected_end_)
    expected_end_ = Clock::now();
}

std::chrono::nanoseconds ChildProcess::longest_nap(Clock::time_point now) const {
  if (expected_end_) // most children are gone within microseconds of this
    return std::clamp<std::chrono::nanoseconds>((now - *expected_end_) / 4, 50us, 2ms);
  // A grandchild may hold the pipe: then the end is seen late by a fiftieth of what the child took.
  const auto nap = std::clamp<std::chrono::nanoseconds>((now - started_) / 50, 1ms, 20ms);
  return limit_ && now < limit_->end ? std::min<std::chrono::nanoseconds>(limit_->end - now, nap) : nap;
}

void ChildProcess::kill(Ending reason) {
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL); // it may have left its group
  if (!killed_for_) {
    killed_for_ = reason;
    expected_end_ = Clock::now();
  }
}

/// True if the process has ended. Leaves it to be reaped: until then no other process has its number, or its group's.
bool ChildProcess::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? info.si_pid == pid_
                                                                                         : errno == ECHILD;
}

std::optional<JobEnd> ChildProcess::try_answer() {
  if (killed_for_ || !area_.finished())
    return std::nullopt;
  JobEnd job_end = job_end_of(0, area_.peak_rss_bytes());
  waits_ = service_ && area_.goes_on() && job_end.ending == Ending::Replied;
  if (!waits_)
    kill(Ending::Cancelled);
  return job_end;
}

std::optional<JobEnd> ChildProcess::try_reap() {
  if (!has_ended()) {
    if (!killed_for_ || Clock::now() - *expected_end_ < patience)
      return std::nullopt;
    pid_ = -1;
    return job_end_of_the_undead();
  }
  ::kill(-pid_, SIGKILL); // its grandchildren
  kill_what_is_left_of(pid_);
  int status = 0;
  rusage usage{};
  const bool known = wait4(pid_, &status, 0, &usage) == pid_;
  pid_ = -1;
  JobEnd job_end = job_end_of(status, static_cast<std::uint64_t>(usage.ru_maxrss) << 10);
  if (!known && job_end.ending == Ending::Exited) { // SIGCHLD is ignored, or other code waits for every child
    job_end.exit_code = -1;
    job_end.message = "how the child process ended is lost: another part of this process has reaped it";
  }
  return job_end;
}

JobEnd ChildProcess::job_end_of_the_undead() {
  JobEnd job_end;
  job_end.ending = *killed_for_;
  job_end.signal = SIGKILL;
  describe(job_end);
  return job_end;
}

JobEnd ChildProcess::job_end_of(int status, std::uint64_t peak_rss_bytes) {
  JobEnd job_end;
  job_end.peak_rss_bytes = peak_rss_bytes;
  describe(job_end);
  if (area_.finished()) {
    job_end.ending = area_.ending();
    const Clock::time_point at{std::chrono::nanoseconds(area_.ended_at_ns())};
    job_end.wall = std::chrono::duration_cast<std::chrono::microseconds>(at - started_);
  } else if (WIFSIGNALED(status)) {
    classify_signal(job_end, WTERMSIG(status));
  } else {
    job_end.ending = Ending::Exited;
    job_end.exit_code = WEXITSTATUS(status);
  }
  if (ended_late())
    job_end.ending = Ending::TimedOut;
  if (job_end.ending == Ending::Replied && killed_for_ != Ending::Cancelled) // else it is not wanted, or taken already
    job_end.reply = area_.take_reply();
  if (job_end.ending == Ending::Crashed)
    job_end.frames = frame_names_.of(area_.frames());
  return job_end;
}

void ChildProcess::classify_signal(JobEnd &job_end, int signal) {
  job_end.signal = signal;
  if (killed_for_ && signal == SIGKILL)
    job_end.ending = *killed_for_;
  else if (comes_from_outside(signal))
    job_end.ending = Ending::Killed;
  else
    job_end.ending = area_.allocation_failed() ? Ending::OutOfMemory : Ending::Crashed;
}

/// Fills in what is known however the child ended.
void ChildProcess::describe(JobEnd &job_end) {
  output_.drain();
  job_end.wall = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started_);
  job_end.stage = area_.stage();
  if (const std::chrono::nanoseconds began(area_.stage_began_ns()); began > 0ns)
    job_end.before_stage = std::clamp<std::chrono::microseconds>(
        std::chrono::duration_cast<std::chrono::microseconds>(began - started_.time_since_epoch()), 0us, job_end.wall);
  job_end.bytes_before_stage = area_.bytes_before_stage();
  job_end.message = area_.message();
  job_end.output_tail = output_.text();
}

} // namespace repro_minify
