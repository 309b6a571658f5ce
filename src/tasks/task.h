// One job beside whatever else is done, and what its end means.
#pragma once
#include "repro_minify/sandbox.h"

#include <concepts>
#include <functional>
#include <utility>

namespace repro_minify {

/// A job that is killed with this object, in a child of its own. `T` is what its JobEnd is read as.
template <typename T> class Task {
public:
  using Read = std::function<T(JobEnd)>;

  /// Starts it at once. `read` is called in this process, once.
  Task(Job job, Limits limits, Read read)
      : read_(std::move(read)), interrupted_(limits.interrupted),
        ticket_(group_.submit(std::move(job), std::move(limits))) {}

  /// The JobEnd as it is.
  Task(Job job, Limits limits) requires std::same_as<T, JobEnd>
      : Task(std::move(job), std::move(limits), std::identity()) {}

  /// True if wait() would not block. Never blocks.
  bool has_ended() { return group_.ready(ticket_); }
  /// To its end, once. As soon as `interrupted`, or that of the limits, says so the job is killed, and its end is
  /// Ending::Cancelled.
  T wait(const std::function<bool()> &interrupted = {}) {
    const auto stop = [&] { return (interrupted && interrupted()) || (interrupted_ && interrupted_()); };
    auto job_end = group_.wait(ticket_, stop);
    if (!job_end) {
      group_.cancel(ticket_);
      job_end = group_.wait(ticket_);
    }
    return read_(std::move(*job_end));
  }

private:
  const Read read_;
  const std::function<bool()> interrupted_;
  TaskGroup group_{1}; ///< after what `read_` keeps for the job: it is killed first
  const TaskGroup::Ticket ticket_;
};

} // namespace repro_minify
