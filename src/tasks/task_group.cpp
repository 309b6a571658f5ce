#include "tasks/task_pool.h"

#include "repro_minify/sandbox.h"

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace repro_minify {

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
