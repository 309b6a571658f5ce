// Jobs and programs in a sandbox of their own, waited for.
#pragma once

#include "repro_minify/sandbox.h"

#include <chrono>
#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

// A job whose JobEnd says nothing of the job is run again: what was missing may be there a moment later.

inline constexpr int most_asked_again = 3; ///< runs after the first
/// Sleeps before run number `again`, counted from 0: 0.1 s, and three times as long each time. Returns false as soon as
/// `interrupted` does not allow it to go on.
bool pause_before_asking_again(int again, const std::function<bool()> &interrupted = {});

/// True if the JobEnd says anything of the job; false for a child that could not be started, whose end is lost, or that
/// was killed from outside or cancelled.
bool is_answer(const JobEnd &job_end);
/// True for a signal that another process or a person sends, and no fault of a program's own.
bool comes_from_outside(int signal);
/// Calls run_in_sandbox(), and again while there is no answer, `most_asked_again` times at most.
JobEnd run_until_answered(const Job &job, const Limits &limits);

/// Runs another program in a sandbox of its own. The first word is the program, looked up on PATH; no shell reads the
/// words. Exit code 127: it could not be started. `interrupted`: see Limits.
JobEnd run_command(const std::vector<std::string> &words, std::chrono::seconds timeout,
                   const std::function<bool()> &interrupted = {});

// One job beside whatever else is done, and what its end means.

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
