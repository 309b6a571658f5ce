#include "app/interruption.h"

#include <atomic>
#include <csignal>

namespace repro_minify {
namespace {

std::atomic<bool> requested{false};

void request_stop(int signal) {
  if (requested.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

} // namespace

void catch_signals() {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

bool stop_requested() {
  return requested;
}

} // namespace repro_minify
