// No signal is delivered to the calling thread for a while.
#pragma once
#include <csignal>

namespace repro_minify {

/// While it lives, all signals of the calling thread are blocked. What begins meanwhile, a thread or a forked child,
/// begins with them blocked.
class AllSignalsBlocked {
public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked &) = delete;
  AllSignalsBlocked &operator=(const AllSignalsBlocked &) = delete;

private:
  sigset_t before_{};
};

} // namespace repro_minify
