// Rules that the kernel holds a confined process to for good: files (Landlock), and system calls (seccomp).
#pragma once

#include <string>

namespace repro_minify {

// Landlock (Linux 5.13): a process gives up files, and with newer kernels sockets and signals, for itself and its
// descendants. By system calls, for glibc has no functions and the headers of Debian 12 know half of it.

/// Returns the version of Landlock that this kernel has; 0: none.
int landlock_version();

/// Files that may be reached, and nothing else. Paths that do not exist are no rules.
class LandlockRules {
public:
  /// Throws std::system_error.
  LandlockRules();
  ~LandlockRules();
  LandlockRules(const LandlockRules &) = delete;
  LandlockRules &operator=(const LandlockRules &) = delete;

  void allow_reading(const std::string &path); ///< and starting programs
  void allow_writing(const std::string &path); ///< and reading, making and removing, but no starting
  /// Binds this process for ever. Throws std::system_error.
  void enforce() const;

private:
  void allow(const std::string &path, unsigned long long rights);

  int rules_ = -1;
};

// The system calls that a confined child may not make: those for sockets, and what goes round the rules on files.

enum class UnixSockets {
  None,
  WithoutPeers, ///< may be made and bound, as CUDA's driver does, and reach no other program
  All,
};

/// True if this kernel takes filters.
bool has_system_call_filters();
/// The parent's part: the filters are compiled once.
void prepare_system_call_filters();
/// Binds this process for ever, without root: new privileges are given up first. Throws std::system_error.
void filter_system_calls(UnixSockets unix_sockets);

} // namespace repro_minify
