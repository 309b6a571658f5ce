// Limits on what a child may use of the machine. Each function that sets one changes the calling process.
#pragma once
#include <cstdint>

namespace repro_minify {

/// The process writes no core file: one of a process with LibTorch loaded takes seconds and gigabytes.
void forbid_core_dumps();
/// Lets the process, and each that it starts, add `bytes` of private memory to what this one has now, for good.
void limit_added_memory(std::uint64_t bytes);
/// Returns how many bytes limit_added_memory() still lets the process add, for another that works for it; 0: no limit.
std::uint64_t memory_allowance();
/// Takes a quarter of the stack away, so that a job that ends well with the rest would also do so with all of it.
void keep_stack_in_reserve();
/// Memory that a new process could have without swapping, in bytes; 0 where it cannot be known.
std::uint64_t free_on_the_machine();
/// Three quarters of the memory that is free now, on the machine and in this process's control group: what a check may
/// add where no limit was given. 0 where it cannot be known.
std::uint64_t memory_that_fits();
/// When the machine runs out of memory, the kernel kills this process rather than its parent.
void volunteer_for_out_of_memory_killer();

} // namespace repro_minify
