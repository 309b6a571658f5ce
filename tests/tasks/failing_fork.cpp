#include "failing_fork.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>

namespace {

int failures_to_come = 0, failures = 0;

} // namespace

/// A definition in the program comes before that of the C library.
extern "C" pid_t fork() noexcept {
  static const auto real = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"));
  if (failures_to_come > 0) {
    --failures_to_come;
    ++failures;
    errno = EAGAIN;
    return -1;
  }
  return real();
}

namespace repro_minify::testing_support {

void fail_forks(int count) {
  failures_to_come = count;
}

int failed_forks() {
  return failures;
}

} // namespace repro_minify::testing_support
