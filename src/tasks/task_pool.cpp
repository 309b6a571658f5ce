// All the children of a thread, in one loop: whichever of them is waited for, every one is looked at.
#include "repro_minify/sandbox.h"
#include "tasks/child_process.h"
#include "tasks/crash_frames.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

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

namespace {

using Clock = ChildProcess::Clock;

timespec to_timespec(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
}

JobEnd could_not_start(const char *why) {
  JobEnd job_end;
  job_end.ending = Ending::Exited;
  job_end.exit_code = -1;
  job_end.message = std::string("the child process could not be started: ") + why;
  return job_end;
}

} // namespace

TaskPool::TaskPool() : owner_(getpid()) {}

std::shared_ptr<TaskPool> TaskPool::of_this_thread() {
  thread_local std::weak_ptr<TaskPool> known;
  std::shared_ptr<TaskPool> pool = known.lock();
  if (!pool || pool->owner_ != getpid())
    known = pool = std::make_shared<TaskPool>();
  return pool;
}

void TaskPool::look(std::chrono::nanoseconds longest_nap) {
  sleep_and_read(longest_nap);
  for (TaskList *list : lists_)
    list->reap(); // before the deadlines: what ended in time and is only seen late has not timed out
  const auto now = Clock::now();
  for (TaskList *list : lists_) {
    list->kill_overdue(now);
    list->start_queued();
  }
}

void TaskPool::sleep_and_read(std::chrono::nanoseconds longest_nap) {
  constexpr std::size_t each = ChildProcess::poll_entries;
  std::vector<ChildProcess *> children;
  for (const TaskList *list : lists_)
    for (const auto &[ticket, child] : list->running_)
      children.push_back(child.get());
  std::vector<pollfd> entries(children.size() * each);
  const auto now = Clock::now();
  for (std::size_t i = 0; i < children.size(); ++i) {
    children[i]->fill(&entries[i * each]);
    longest_nap = std::min(longest_nap, children[i]->longest_nap(now));
  }
  const timespec timeout = to_timespec(longest_nap);
  if (ppoll(entries.data(), entries.size(), &timeout, nullptr) <= 0)
    return; // the nap is over, or a signal came
  for (std::size_t i = 0; i < children.size(); ++i)
    children[i]->read(&entries[i * each]);
}

TaskList::TaskList(int workers) : workers_(std::max(workers, 1)), pool_(TaskPool::of_this_thread()) {
  pool_->lists_.push_back(this);
}

TaskList::~TaskList() {
  std::erase(pool_->lists_, this);
  // All at once, then each is waited for: the kernel takes their memory back at the same time.
  for (const auto &[ticket, child] : running_)
    child->kill(Ending::Cancelled);
  for (const auto &child : waiting_)
    child->kill(Ending::Cancelled);
}

bool TaskList::has_free_worker() const {
  return queue_.empty() && std::cmp_less(running_.size(), workers_);
}

bool TaskList::knows(Ticket ticket) const {
  const auto is_it = [ticket](const Queued &queued) { return queued.ticket == ticket; };
  return running_.contains(ticket) || has_ended(ticket) || std::any_of(queue_.begin(), queue_.end(), is_it);
}

TaskList::Ticket TaskList::queue(Job job, Limits limits) {
  const Ticket ticket = next_ticket_++;
  queue_.push_back({ticket, std::move(job), std::move(limits)});
  return ticket;
}

std::optional<JobEnd> TaskList::take(Ticket ticket) {
  if (cancelled_.contains(ticket)) {
    JobEnd job_end;
    job_end.ending = Ending::Cancelled;
    return job_end;
  }
  if (auto node = finished_.extract(ticket))
    return std::move(node.mapped());
  return std::nullopt;
}

void TaskList::cancel(Ticket ticket) {
  std::erase_if(queue_, [ticket](const Queued &queued) { return queued.ticket == ticket; });
  finished_.erase(ticket);
  if (auto node = running_.extract(ticket)) {
    node.mapped()->kill(Ending::Cancelled);
    dying_.push_back(std::move(node.mapped()));
  }
  of_services_.erase(ticket);
  cancelled_.insert(ticket);
}

void TaskList::look(std::chrono::nanoseconds longest_nap) {
  pool_->look(longest_nap);
}

void TaskList::reap() {
  for (auto it = running_.begin(); it != running_.end();) {
    const auto entry = it++;
    auto job_end = entry->second->try_answer();
    const bool has_answered = job_end.has_value();
    if (!has_answered)
      job_end = entry->second->try_reap();
    if (!job_end)
      continue;
    const Ticket ticket = entry->first;
    std::unique_ptr<ChildProcess> child = std::move(running_.extract(entry).mapped());
    const bool was_kept = child->was_kept();
    if (has_answered)
      (child->waits() ? waiting_ : dying_).push_back(std::move(child));
    end(ticket, std::move(*job_end), was_kept);
  }
  const auto has_gone = [](const auto &child) { return child->try_reap().has_value(); };
  std::erase_if(waiting_, has_gone);
  std::erase_if(dying_, has_gone);
}

/// An end without an answer, in a process that was asked before, may be the fault of an earlier question.
void TaskList::end(Ticket ticket, JobEnd job_end, bool was_kept) {
  auto node = of_services_.extract(ticket);
  if (!node.empty() && was_kept && job_end.ending != Ending::Replied)
    start(node.mapped(), /*fresh=*/true);
  else
    finished_.emplace(ticket, std::move(job_end));
}

void TaskList::kill_overdue(Clock::time_point now) {
  for (const auto &[ticket, child] : running_)
    if (child->overdue(now))
      child->kill(Ending::TimedOut);
}

void TaskList::start_queued() {
  while (!queue_.empty() && std::cmp_less(running_.size(), workers_)) {
    const Queued queued = std::move(queue_.front()); // once it is forked, the job is the child's alone
    queue_.pop_front();
    start(queued);
  }
}

/// Those that wait for questions of another service have had their last: each holds what was dear to set up.
bool TaskList::is_asked_of_one_that_waits(const Queued &queued) {
  const auto is_of_another = [&](const auto &child) { return child->service() != queued.job.service().get(); };
  const auto others = std::stable_partition(waiting_.begin(), waiting_.end(), std::not_fn(is_of_another));
  for (auto it = others; it != waiting_.end(); ++it) {
    (*it)->kill(Ending::Cancelled);
    dying_.push_back(std::move(*it));
  }
  waiting_.erase(others, waiting_.end());
  if (waiting_.empty())
    return false;
  std::unique_ptr<ChildProcess> child = std::move(waiting_.back());
  waiting_.pop_back();
  if (!child->ask(queued.job, queued.limits)) {
    child->kill(Ending::Cancelled);
    dying_.push_back(std::move(child));
    return false;
  }
  running_.emplace(queued.ticket, std::move(child));
  return true;
}

void TaskList::start(const Queued &queued, bool fresh) {
  try {
    if (queued.job.service()) {
      of_services_.insert_or_assign(queued.ticket, queued);
      if (!fresh && is_asked_of_one_that_waits(queued))
        return;
    }
    running_.emplace(queued.ticket, std::make_unique<ChildProcess>(queued.job, queued.limits, pool_->frame_names_));
  } catch (const std::exception &error) {
    finished_.emplace(queued.ticket, could_not_start(error.what()));
  }
}

using namespace std::chrono_literals;

TaskGroup::TaskGroup(int workers) : list_(std::make_unique<TaskList>(workers)) {}

TaskGroup::~TaskGroup() = default;

int TaskGroup::workers() const {
  return list_->workers();
}

int TaskGroup::pending() const {
  return list_->pending();
}

bool TaskGroup::has_free_worker() const {
  list_->look(0ns);
  return list_->has_free_worker();
}

TaskGroup::Ticket TaskGroup::submit(Job job, Limits limits) {
  const Ticket ticket = list_->queue(std::move(job), std::move(limits));
  list_->look(0ns);
  return ticket;
}

std::optional<JobEnd> TaskGroup::wait(Ticket ticket, const std::function<bool()> &interrupted) {
  TaskList &list = *list_;
  if (!list.knows(ticket))
    throw std::invalid_argument("TaskGroup: this ticket was never given out, or its outcome has been taken");
  for (list.look(0ns);; list.look(100ms)) {
    if (auto job_end = list.take(ticket))
      return job_end;
    if (interrupted && interrupted())
      return std::nullopt;
    // `interrupted` may have looked at the children too, and seen this one end: nothing would wake the nap.
    if (auto job_end = list.take(ticket))
      return job_end;
  }
}

bool TaskGroup::ready(Ticket ticket) {
  list_->look(0ns);
  return list_->has_ended(ticket);
}

void TaskGroup::cancel(Ticket ticket) {
  if (!list_->knows(ticket))
    return;
  list_->cancel(ticket);
  list_->look(0ns);
}

} // namespace repro_minify
