#include "app/interruption.h"

#include "app/options.h"

#include <atomic>
#include <csignal>

namespace repro_minify {
namespace {

std::atomic<bool> requested{false};

/// Nobody reads any more, or there is no room: that comes again with each write, and is not somebody who insists.
bool comes_again(int signal) {
  return signal == SIGPIPE || signal == SIGXFSZ;
}

void request_stop(int signal) {
  if (requested.exchange(true) && !comes_again(signal)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

} // namespace

void catch_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN || comes_again(signal)) // nohup
      std::signal(signal, request_stop);
  }
}

bool stop_requested() {
  return requested;
}

int exit_code_unless_stopped(int code) {
  return requested ? static_cast<int>(InterruptedByUser) : code;
}

} // namespace repro_minify
