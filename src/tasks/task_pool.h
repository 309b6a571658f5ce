// All the children of a thread, in one loop: whichever of them is waited for, every one is looked at.
#pragma once
#include "repro_minify/sandbox.h"
#include "tasks/child_process.h"
#include "tasks/crash_frames.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <sys/types.h>

namespace repro_minify {

class TaskPool;

/// The jobs of one TaskGroup, in whatever state they are.
class TaskList {
public:
  using Ticket = std::uint64_t;

  /// At most `workers` of them run at a time.
  explicit TaskList(int workers);
  ~TaskList(); ///< kills what runs
  TaskList(const TaskList &) = delete;
  TaskList &operator=(const TaskList &) = delete;

  int workers() const { return workers_; }
  int pending() const { return static_cast<int>(queue_.size() + running_.size() + finished_.size()); }
  bool has_free_worker() const;
  bool knows(Ticket ticket) const;
  Ticket queue(Job job, Limits limits);
  bool has_ended(Ticket ticket) const { return finished_.contains(ticket) || cancelled_.contains(ticket); }
  /// Returns how it ended, once; nothing before.
  std::optional<JobEnd> take(Ticket ticket);
  /// Kills or dequeues it.
  void cancel(Ticket ticket);
  /// Looks at all children of the thread, after sleeping until something happens, `longest_nap` at most.
  void look(std::chrono::nanoseconds longest_nap);

private:
  friend class TaskPool;
  struct Queued {
    Ticket ticket;
    Job job;
    Limits limits;
  };
  using Children = std::map<Ticket, std::unique_ptr<ChildProcess>>;

  void reap();
  void end(Ticket ticket, JobEnd job_end, bool was_kept);
  bool is_asked_of_one_that_waits(const Queued &queued);
  void kill_overdue(ChildProcess::Clock::time_point now);
  void start_queued();
  void start(const Queued &queued, bool fresh = false);

  const int workers_;
  const std::shared_ptr<TaskPool> pool_; // before the children, which refer to it
  Ticket next_ticket_ = 1;
  std::deque<Queued> queue_;
  Children running_;
  std::map<Ticket, Queued> of_services_;               ///< what runs for a Service: it may have to be asked again
  std::vector<std::unique_ptr<ChildProcess>> waiting_; ///< for another question of their service
  std::vector<std::unique_ptr<ChildProcess>> dying_;   ///< killed; no caller waits for them, they are only reaped
  std::map<Ticket, JobEnd> finished_;
  std::set<Ticket> cancelled_;
};

/// The loop: it alone reaps, enforces deadlines, drains pipes, and starts what is queued.
class TaskPool {
public:
  TaskPool();
  /// A child that was forked by the thread has a pool of its own, without its parent's children.
  static std::shared_ptr<TaskPool> of_this_thread();

  void look(std::chrono::nanoseconds longest_nap);

private:
  friend class TaskList;

  void sleep_and_read(std::chrono::nanoseconds longest_nap);

  const pid_t owner_;
  FrameNames frame_names_;
  std::vector<TaskList *> lists_;
};

} // namespace repro_minify
