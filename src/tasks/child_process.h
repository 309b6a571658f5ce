// The parent's side of one child: fork, watch, kill, reap.
#pragma once
#include "repro_minify/sandbox.h"
#include "tasks/crash_frames.h"
#include "tasks/output_tail.h"
#include "tasks/processor_use.h"
#include "tasks/shared_area.h"
#include "tasks/time_limit.h"

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>

struct pollfd;

namespace repro_minify {

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
  /// The JobEnd once the child has ended, or has been killed and does not end for long. Never blocks. Asked for once.
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

} // namespace repro_minify
