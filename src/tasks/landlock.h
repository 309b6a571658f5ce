// Landlock (Linux 5.13): a process gives up files, and with newer kernels sockets and signals, for itself and its
// descendants. By system calls, for glibc has no functions and the headers of Debian 12 know half of it.
#pragma once
#include <string>

namespace repro_minify {

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

} // namespace repro_minify
