// Limits that the kernel does not have: how many processes a child starts, and how much they write.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify {

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
