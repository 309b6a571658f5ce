// Limits on what a child may use of the machine. Each function that sets one changes the calling process.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify {

/// The process writes no core file: one of a process with LibTorch loaded takes seconds and gigabytes.
void forbid_core_dumps();
/// Lets the process, and each that it starts, add `bytes` of private memory to what this one has now, for good.
void limit_added_memory(std::uint64_t bytes);
/// Returns how many bytes limit_added_memory() still lets the process add, for another that works for it; 0: no limit.
std::uint64_t memory_allowance();
/// Takes a quarter of the stack away, so that a job that ends well with the rest would also do so with all of it.
void keep_stack_in_reserve();
/// Three quarters of the memory that is free now, on the machine and in this process's control group: what a check may
/// add where no limit was given. 0 where it cannot be known.
std::uint64_t memory_that_fits();
/// When the machine runs out of memory, the kernel kills this process rather than its parent.
void volunteer_for_out_of_memory_killer();

// Limits that the kernel does not have: how many processes a child starts, and how much they write.

/// Watches the one child that this process has at the time, and is asked by the function in Limits::interrupted.
/// Besides these limits, the child has to leave a quarter of what was free on the disk, files without a name included.
class Growth {
public:
  /// `most_bytes`: of the files in its folders; 0 = no limit but the disk's.
  Growth(std::size_t most_processes, std::vector<std::filesystem::path> folders, std::uint64_t most_bytes);
  /// Looks if it is time to, and takes a twentieth of the time at most.
  bool is_too_much();
  /// Names the limit that is exceeded, as in "has more than 64 processes at a time"; empty while none is.
  const std::string &what() const { return what_; }

private:
  std::string look() const;

  std::size_t most_processes_;
  std::vector<std::filesystem::path> folders_;
  std::uint64_t most_bytes_;
  std::vector<std::uint64_t> least_free_; ///< for each folder
  std::chrono::steady_clock::time_point next_;
  std::string what_;
};

} // namespace repro_minify
