#include "repro_minify/sandbox.h"
#include "sandbox/child_process.h"
#include "sandbox/crash_frames.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
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

namespace repro_minify {
namespace {

using namespace std::chrono_literals;
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

struct SandboxPool::Impl {
  struct Queued {
    Ticket ticket;
    Job job;
    Limits limits;
  };
  using Children = std::map<Ticket, std::unique_ptr<ChildProcess>>;

  int workers = 1;
  FrameNames frame_names; // before the children, which refer to it
  Ticket next_ticket = 1;
  std::deque<Queued> queue;
  Children running;
  Children dying; ///< answered or cancelled, and killed; no caller waits for them, they are only reaped
  std::map<Ticket, JobEnd> finished;
  std::set<Ticket> cancelled;

  bool has_free_worker() const { return queue.empty() && std::cmp_less(running.size(), workers); }
  bool knows(Ticket ticket) const;
  /// Everything there is to do now, after sleeping until something happens, `longest_nap` at most.
  void look(std::chrono::nanoseconds longest_nap);
  void sleep_and_read(std::chrono::nanoseconds longest_nap);
  void reap();
  void kill_overdue();
  void start_queued();
  void start(const Queued &queued);
  std::optional<JobEnd> take(Ticket ticket);
};

bool SandboxPool::Impl::knows(Ticket ticket) const {
  const auto is_it = [ticket](const Queued &queued) { return queued.ticket == ticket; };
  return running.contains(ticket) || finished.contains(ticket) || cancelled.contains(ticket) ||
         std::any_of(queue.begin(), queue.end(), is_it);
}

void SandboxPool::Impl::look(std::chrono::nanoseconds longest_nap) {
  sleep_and_read(longest_nap);
  reap(); // before the deadlines: who ended in time and is only seen late has not timed out
  kill_overdue();
  start_queued();
}

void SandboxPool::Impl::sleep_and_read(std::chrono::nanoseconds longest_nap) {
  constexpr std::size_t each = ChildProcess::poll_entries;
  std::vector<pollfd> entries(running.size() * each);
  const auto now = Clock::now();
  std::size_t at = 0;
  for (const auto &[ticket, child] : running) {
    child->fill(&entries[at]);
    at += each;
    longest_nap = std::min(longest_nap, child->longest_nap(now));
  }
  const timespec timeout = to_timespec(longest_nap);
  if (ppoll(entries.data(), entries.size(), &timeout, nullptr) <= 0)
    return; // the nap is over, or a signal came
  at = 0;
  for (const auto &[ticket, child] : running) {
    child->read(&entries[at]);
    at += each;
  }
}

void SandboxPool::Impl::reap() {
  for (auto it = running.begin(); it != running.end();) {
    const auto entry = it++;
    if (auto answer = entry->second->try_answer()) {
      finished.emplace(entry->first, std::move(*answer));
      dying.insert(running.extract(entry));
    } else if (auto job_end = entry->second->try_reap()) {
      finished.emplace(entry->first, std::move(*job_end));
      running.erase(entry);
    }
  }
  std::erase_if(dying, [](const auto &entry) { return entry.second->try_reap().has_value(); });
}

void SandboxPool::Impl::kill_overdue() {
  const auto now = Clock::now();
  for (const auto &[ticket, child] : running)
    if (child->overdue(now))
      child->kill(Ending::TimedOut);
}

void SandboxPool::Impl::start_queued() {
  while (!queue.empty() && std::cmp_less(running.size(), workers)) {
    const Queued queued = std::move(queue.front()); // once it is forked, the job is the child's alone
    queue.pop_front();
    start(queued);
  }
}

void SandboxPool::Impl::start(const Queued &queued) {
  try {
    running.emplace(queued.ticket, std::make_unique<ChildProcess>(queued.job, queued.limits, frame_names));
  } catch (const std::exception &error) {
    finished.emplace(queued.ticket, could_not_start(error.what()));
  }
}

std::optional<JobEnd> SandboxPool::Impl::take(Ticket ticket) {
  if (cancelled.contains(ticket)) {
    JobEnd job_end;
    job_end.ending = Ending::Cancelled;
    return job_end;
  }
  if (auto node = finished.extract(ticket))
    return std::move(node.mapped());
  return std::nullopt;
}

SandboxPool::SandboxPool(int workers) : impl_(std::make_unique<Impl>()) {
  impl_->workers = std::max(workers, 1);
}

SandboxPool::~SandboxPool() {
  // All at once, then each is waited for: the kernel takes their memory back at the same time.
  for (const auto &[ticket, child] : impl_->running)
    child->kill(Ending::Cancelled);
}

int SandboxPool::workers() const {
  return impl_->workers;
}

int SandboxPool::pending() const {
  return static_cast<int>(impl_->queue.size() + impl_->running.size() + impl_->finished.size());
}

bool SandboxPool::has_free_worker() const {
  impl_->look(0ns);
  return impl_->has_free_worker();
}

SandboxPool::Ticket SandboxPool::submit(Job job, Limits limits) {
  const Ticket ticket = impl_->next_ticket++;
  impl_->queue.push_back({ticket, std::move(job), std::move(limits)});
  impl_->look(0ns);
  return ticket;
}

std::optional<JobEnd> SandboxPool::wait(Ticket ticket, const std::function<bool()> &interrupted) {
  if (!impl_->knows(ticket))
    throw std::invalid_argument("SandboxPool: this ticket was never given out, or its outcome has been taken");
  for (impl_->look(0ns);; impl_->look(100ms)) {
    if (auto job_end = impl_->take(ticket))
      return job_end;
    if (interrupted && interrupted())
      return std::nullopt;
    // `interrupted` may have looked at the children too, and seen this one end: nothing would wake the nap.
    if (auto job_end = impl_->take(ticket))
      return job_end;
  }
}

bool SandboxPool::ready(Ticket ticket) {
  impl_->look(0ns);
  return impl_->finished.contains(ticket) || impl_->cancelled.contains(ticket);
}

void SandboxPool::cancel(Ticket ticket) {
  if (!impl_->knows(ticket))
    return;
  std::erase_if(impl_->queue, [ticket](const auto &queued) { return queued.ticket == ticket; });
  impl_->finished.erase(ticket);
  if (auto node = impl_->running.extract(ticket)) {
    node.mapped()->kill(Ending::Cancelled);
    impl_->dying.insert(std::move(node));
  }
  impl_->cancelled.insert(ticket);
  impl_->look(0ns);
}

} // namespace repro_minify
