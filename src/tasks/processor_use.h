// How much of a processor a process had, and how long it waited for one, as Linux counts both.
#pragma once
#include <sys/types.h>

#include <chrono>

namespace repro_minify {

struct ProcessorUse {
  std::chrono::nanoseconds spent{0};  ///< on processors, by all threads of the process
  std::chrono::nanoseconds waited{0}; ///< in which its main thread could have run and no processor was free

  ProcessorUse &operator+=(const ProcessorUse &other) {
    spent += other.spent, waited += other.waited;
    return *this;
  }
};

/// In a check's process, before it is confined: use_of_this_process() reads a file that it may not open afterwards.
void prepare_processor_use();
/// Includes the time on processors of processes that it started and that have ended, and what helper_has_used() told.
/// Safe in a signal handler. `waited` is zero without prepare_processor_use(), and where Linux does not count it.
ProcessorUse use_of_this_process();
/// Tells this process what another has used that works for it: `use` replaces what was told before.
void helper_has_used(const ProcessorUse &use);
/// `pid`: a process of this user. Nothing of the processes that it has started. Zero where the process is gone.
ProcessorUse use_of_process(pid_t pid);

} // namespace repro_minify
