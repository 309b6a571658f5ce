// The child's side: everything between fork() and _exit().
#pragma once
#include "repro_minify/sandbox.h"
#include "tasks/shared_area.h"
#include "tasks/time_limit.h"

#include <sys/types.h>

namespace repro_minify {

/// The values that a child got from its parent.
struct ChildEnds {
  int output;                          ///< becomes standard output and standard error
  int end;                             ///< one byte goes there after each answer of a process that is kept
  int questions;                       ///< one byte comes from there for each question after the first; -1: none come
  pid_t parent;                        ///< whom the child must not outlive
  TimeLimit::Clock::time_point forked; ///< when its time began
};

/// In a check's process; nothing elsewhere. `helper` works for it from now on: what that process and those that it
/// starts have of the processors counts as this process's while its limit in time is looked at.
void is_helped_by(pid_t helper);

/// Runs the job, and further questions to its Service if it has one, and ends the process. All signals are blocked when
/// it is called.
[[noreturn]] void run_child(const Job &job, const Limits &limits, SharedArea &area, const ChildEnds &ends);

} // namespace repro_minify
