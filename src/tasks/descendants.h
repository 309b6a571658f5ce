// How long the processes that a check has left behind are hunted.
#pragma once

#include "tasks/time_limit.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <vector>

#include <sys/types.h>

namespace repro_minify {

class Hunt {
public:
  using Clock = std::chrono::steady_clock;

  explicit Hunt(Clock::time_point begin) : begin_(begin) {}

  /// `left`: the processes that are there now, and will be killed. False if none is, or the hunt is given up: early
  /// where others keep coming, as what forks faster than it is killed is left to the next start; late where all of them
  /// were killed before, as on a busy machine they wait for a processor to die on.
  bool goes_on(const std::vector<pid_t> &left, Clock::time_point now) {
    const bool others_came =
        std::count_if(left.begin(), left.end(), [this](pid_t process) { return killed_.insert(process).second; }) > 0;
    return !left.empty() && now - begin_ < (others_came ? longest_among_others : longest_for_the_dying);
  }

private:
  static constexpr auto longest_among_others = std::chrono::seconds(2),
                        longest_for_the_dying = std::chrono::seconds(20);

  Clock::time_point begin_;
  std::set<pid_t> killed_;
};

// All that a check has started, wherever it went: a process that leaves its group and its parent still carries a mark.

/// In a check's process, before the job: it and all that it will start are marked as this check's, and those whose
/// parents die become its own children.
void mark_as_check();
/// In the process that starts checks: a process that a check leaves behind becomes its child, and can be found.
void adopt_what_checks_leave();
/// How many processes the checks of this process have, with all that they have started.
std::size_t count_processes_of_checks();
/// The use of these processes, and of all that they have started and that is there still.
ProcessorUse use_with_descendants(std::vector<pid_t> processes);
/// Once this check has ended, and before it is reaped: kills and reaps what it left behind.
void kill_what_is_left_of(pid_t check);
/// When a run begins: kills what the checks of a run left behind that was itself killed.
void kill_what_dead_runs_left();

} // namespace repro_minify
