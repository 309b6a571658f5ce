// All that a check has started, wherever it went: a process that leaves its group and its parent still carries a mark.
#pragma once
#include "tasks/processor_use.h"

#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace repro_minify {

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
