// The child's side of a sandbox: limits, signals, descriptors, the job.
#pragma once
#include "sandbox/sandbox.h"
#include "sandbox/shared_memory.h"

namespace repro_minify {

/// Runs in the forked child; never returns. `alive` is the write end of the pipe whose closing tells the parent; `output`
/// receives standard output and standard error.
[[noreturn]] void run_child(const Job &job, const Limits &limits, SharedMemory &memory, int output, int parent);

} // namespace repro_minify
