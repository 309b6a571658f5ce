// One child: the parent's side (fork, watch, kill, reap), and the child's (everything between fork() and _exit()).
#pragma once

#include "repro_minify/sandbox.h"
#include "tasks/crash_frames.h"
#include "tasks/shared_area.h"
#include "tasks/time_limit.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

struct pollfd;

namespace repro_minify {

// The end of what a child writes.

/// A pipe rather than a file: a child that writes for ever waits for its reader, and fills neither disk nor memory.
class OutputTail {
public:
  /// Throws std::system_error.
  OutputTail();
  ~OutputTail();
  OutputTail(const OutputTail &) = delete;
  OutputTail &operator=(const OutputTail &) = delete;

  int write_end() const { return write_end_; }
  int read_end() const { return read_end_; } ///< -1 when every writer has gone
  /// The child has its own by now.
  void close_write_end();
  /// Reads what is there, some megabytes at most, so that other children do not have to wait for long.
  void drain();
  const std::string &text() const { return text_; }
  /// Forgets what was written so far.
  void restart() {
    drain();
    text_.clear();
  }

private:
  int read_end_ = -1;
  int write_end_ = -1;
  std::string text_;
};

// The parent's side of one child: fork, watch, kill, reap.

struct ChildEnds;

/// The parent learns of the end from a pipe: the child holds the write end and never uses it, so that it closes when
/// the child ends. It closes early when the job closes descriptors and late when a grandchild holds it too, so it is a
/// hint that makes the parent prompt; waitid() alone decides. A child that is kept for further questions of a Service
/// writes a byte instead.
class ChildProcess {
public:
  using Clock = std::chrono::steady_clock;
  /// A child has this many entries in the array for poll().
  static constexpr std::size_t poll_entries = 2;

  /// Forks. Throws std::system_error or std::length_error when the machine lacks what that takes, fork() after some
  /// retries. `frame_names` has to live as long.
  ChildProcess(const Job &job, const Limits &limits, FrameNames &frame_names);
  /// Kills what is still there.
  ~ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;

  /// Fills `poll_entries` entries; the descriptor of what need not be watched is -1.
  void fill(pollfd *entries) const;
  /// Takes in what poll() answered.
  void read(const pollfd *entries);
  /// How long the parent may sleep, for all that poll() cannot tell.
  std::chrono::nanoseconds longest_nap(Clock::time_point now) const;

  bool overdue(Clock::time_point now) const;
  /// Kills the child and its process group; the JobEnd, when it comes, has `reason` unless the child was faster.
  void kill(Ending reason);
  /// The JobEnd of a child that has finished its job. Unless it waits for another question then, it has nothing left to
  /// do but to end, which takes a while: it is killed, and has to be reaped still. Never blocks. Asked for once.
  std::optional<JobEnd> try_answer();
  /// True if it has answered and waits for another question.
  bool waits() const { return waits_; }
  /// Gives one that waits() another question of its service, under other limits in time. False where that cannot be.
  bool ask(const Job &job, const Limits &limits);
  /// True if it was asked more than once.
  bool was_kept() const { return was_kept_; }
  const Service *service() const { return service_.get(); }
  /// The JobEnd once the child has ended, or has been killed and does not end for long. Asked for once. Waits only for
  /// the end of what a killed child has started, which descendants.h limits.
  std::optional<JobEnd> try_reap();

private:
  template <typename Use> bool is_late(Clock::time_point now, const Use &use) const;
  bool ended_late() const;
  pid_t fork_child(const Job &job, const Limits &limits, ChildEnds &ends);
  bool has_ended() const;
  ProcessorUse use_so_far() const;
  JobEnd job_end_of(int status, std::uint64_t peak_rss_bytes);
  JobEnd job_end_of_the_undead();
  void describe(JobEnd &job_end);
  void classify_signal(JobEnd &job_end, int signal);

  SharedArea area_;
  FrameNames &frame_names_;
  OutputTail output_;
  const std::shared_ptr<const Service> service_;
  int end_ = -1;       ///< read end of the pipe; -1 when it has closed
  int questions_ = -1; ///< where the child is told that there is a question; -1 without a service
  bool waits_ = false, was_kept_ = false;
  pid_t pid_ = -1;
  Clock::time_point started_;
  std::optional<TimeLimit> limit_; ///< from the fork on
  bool allow_for_load_ = false;
  std::optional<Clock::time_point> expected_end_; ///< since when the child should be ending
  std::optional<Ending> killed_for_;
};

// The child's side: everything between fork() and _exit().

/// The values that a child got from its parent.
struct ChildEnds {
  int output;                          ///< becomes standard output and standard error
  int end;                             ///< one byte goes there after each answer of a process that is kept
  int questions;                       ///< one byte comes from there for each question after the first; -1: none come
  pid_t parent;                        ///< whom the child must not outlive
  TimeLimit::Clock::time_point forked; ///< when its time began
};

/// In a check's process; nothing elsewhere. `helper` works for it from now on: what that process and those that it
/// starts have of the processors counts as this process's while its limit in time is looked at.
void is_helped_by(pid_t helper);

/// Runs the job, and further questions to its Service if it has one, and ends the process. All signals are blocked when
/// it is called.
[[noreturn]] void run_child(const Job &job, const Limits &limits, SharedArea &area, const ChildEnds &ends) noexcept;

} // namespace repro_minify
