// The handling of a fatal signal in a child: it leaves the frames of the thread that crashed, then dies of the signal.
#pragma once
#include "tasks/shared_area.h"

namespace repro_minify {

/// The parent's part, before each fork: loads what the handler must not load. Takes no time but the first time.
void prepare_crash_handler();

/// Handles the signals of a crash in this process, on a stack of its own if it is the calling thread that crashes. A
/// frame that returns to `end_of_job`, and all beyond it, are left out. What is added to `area` is the addresses, and
/// symbols only if the process has loaded libraries since it was forked.
void install_crash_handler(SharedArea &area, const void *end_of_job);

} // namespace repro_minify
