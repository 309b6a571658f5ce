// The parent's side of one running child.
#pragma once
#include "sandbox/sandbox.h"
#include "sandbox/shared_memory.h"

#include <chrono>
#include <optional>

#include <sys/types.h>

namespace repro_minify {

class RunningChild {
public:
  /// Forks. Throws std::runtime_error when that fails even after some patience.
  RunningChild(const Job &job, const Limits &limits);
  /// Kills what still runs.
  ~RunningChild();
  RunningChild(const RunningChild &) = delete;
  RunningChild &operator=(const RunningChild &) = delete;

  /// The outcome once the child has ended; enforces the time limit. Never blocks.
  std::optional<Outcome> poll();
  /// Readable (or closed) when the child has probably ended; -1 once that has been seen.
  int wake_descriptor() const { return wake_; }
  /// The pipe has closed though the child may live: only polling tells.
  void stop_watching_descriptor();
  void kill_group() const;
  std::optional<std::chrono::steady_clock::time_point> deadline() const { return deadline_; }

private:
  Outcome outcome_of(int status, std::uint64_t peak_rss);
  std::string output_tail() const;

  SharedMemory memory_;
  pid_t pid_ = -1;
  int wake_ = -1;
  int output_ = -1;
  bool timed_out_ = false;
  bool limited_memory_;
  std::chrono::steady_clock::time_point begin_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

} // namespace repro_minify
