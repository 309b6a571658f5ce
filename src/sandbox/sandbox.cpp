#include "sandbox/sandbox.h"

#include "sandbox/running_child.h"

#include <algorithm>
#include <deque>
#include <map>

#include <poll.h>

namespace repro_minify {
namespace {

using Clock = std::chrono::steady_clock;

/// How long to sleep at most before children are looked at again: short when one of them can no longer wake us.
int pause_milliseconds(const std::map<SandboxPool::Ticket, std::unique_ptr<RunningChild>> &running) {
  auto pause = std::chrono::milliseconds(100);
  for (const auto &[ticket, child] : running) {
    if (child->wake_descriptor() < 0)
      return 1;
    if (child->deadline())
      pause = std::min(pause, std::max(std::chrono::milliseconds(1), std::chrono::duration_cast<std::chrono::milliseconds>(*child->deadline() - Clock::now())));
  }
  return static_cast<int>(pause.count());
}

} // namespace

const char *to_string(Ending ending) {
  switch (ending) {
  case Ending::Replied: return "replied";
  case Ending::Threw: return "threw an exception";
  case Ending::Exited: return "exited";
  case Ending::Crashed: return "crashed";
  case Ending::TimedOut: return "timed out";
  case Ending::OutOfMemory: return "ran out of memory";
  case Ending::Killed: return "was killed from outside";
  case Ending::Cancelled: return "was cancelled";
  }
  return "?";
}

struct SandboxPool::Impl {
  struct Queued {
    Ticket ticket;
    Job job;
    Limits limits;
  };

  int workers;
  Ticket next = 1;
  std::deque<Queued> queue;
  std::map<Ticket, std::unique_ptr<RunningChild>> running;
  std::map<Ticket, Outcome> finished;

  void start_queued() {
    while (!queue.empty() && static_cast<int>(running.size()) < workers) {
      Queued queued = std::move(queue.front());
      queue.pop_front();
      try {
        running[queued.ticket] = std::make_unique<RunningChild>(queued.job, queued.limits);
      } catch (const std::exception &error) {
        running.erase(queued.ticket);
        Outcome outcome;
        outcome.message = error.what();
        finished.emplace(queued.ticket, std::move(outcome));
      }
    }
  }

  void reap() {
    for (auto it = running.begin(); it != running.end();) {
      if (auto outcome = it->second->poll()) {
        finished.emplace(it->first, std::move(*outcome));
        it = running.erase(it);
      } else {
        ++it;
      }
    }
    start_queued();
  }

  /// Sleeps until a child has probably ended, or a little while.
  void doze() {
    std::vector<pollfd> descriptors;
    std::vector<RunningChild *> children;
    for (auto &[ticket, child] : running)
      if (child->wake_descriptor() >= 0) {
        descriptors.push_back({child->wake_descriptor(), POLLIN, 0});
        children.push_back(child.get());
      }
    ::poll(descriptors.data(), descriptors.size(), pause_milliseconds(running));
    for (size_t i = 0; i < descriptors.size(); ++i)
      if (descriptors[i].revents)
        children[i]->stop_watching_descriptor();
  }
};

SandboxPool::SandboxPool(int workers) : impl_(std::make_unique<Impl>()) { impl_->workers = std::max(1, workers); }
SandboxPool::~SandboxPool() = default;

int SandboxPool::workers() const { return impl_->workers; }
int SandboxPool::pending() const { return static_cast<int>(impl_->queue.size() + impl_->running.size() + impl_->finished.size()); }

bool SandboxPool::has_free_worker() const {
  return impl_->queue.empty() && static_cast<int>(impl_->running.size()) < impl_->workers;
}

SandboxPool::Ticket SandboxPool::submit(Job job, Limits limits) {
  const Ticket ticket = impl_->next++;
  impl_->queue.push_back({ticket, std::move(job), limits});
  impl_->start_queued();
  return ticket;
}

std::optional<Outcome> SandboxPool::wait(Ticket ticket, const std::function<bool()> &interrupted) {
  for (;;) {
    impl_->reap();
    const auto found = impl_->finished.find(ticket);
    if (found != impl_->finished.end()) {
      Outcome outcome = std::move(found->second);
      impl_->finished.erase(found);
      return outcome;
    }
    if (interrupted && interrupted())
      return std::nullopt;
    impl_->doze();
  }
}

bool SandboxPool::ready(Ticket ticket) {
  impl_->reap();
  return impl_->finished.count(ticket) != 0;
}

void SandboxPool::cancel(Ticket ticket) {
  auto &queue = impl_->queue;
  queue.erase(std::remove_if(queue.begin(), queue.end(), [&](const auto &queued) { return queued.ticket == ticket; }), queue.end());
  impl_->running.erase(ticket);
  impl_->finished.erase(ticket);
  impl_->start_queued();
}

Outcome run_in_sandbox(const Job &job, const Limits &limits) {
  SandboxPool pool(1);
  return *pool.wait(pool.submit(job, limits));
}

} // namespace repro_minify
