#include "cli/interruption.h"

#include "cli/options.h"
#include "core/watchdog.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace repro_minify {
namespace {

std::atomic<bool> requested{false};
std::atomic<Watchdog *> watchdog{nullptr};

std::mutex words_mutex;
std::function<std::string()> words = [] { return std::string("interrupted"); };

/// True if each write that fails raises the signal again (no reader is left, or no room): a second one does not mean
/// that the user insists.
bool comes_again(int signal) {
  return signal == SIGPIPE || signal == SIGXFSZ;
}

void request_stop(int signal) {
  if (requested.exchange(true) && !comes_again(signal)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  if (Watchdog *dog = watchdog)
    dog->request();
}

/// The main thread computes and looks at nothing. What it has written is whole or not there at all, as after a SIGKILL,
/// and its children go with it. A reader that has stopped reading must not keep it.
[[noreturn]] void end_unheeded() {
  const std::lock_guard lock(words_mutex);
  const std::string text = "\nwarning: " + words() + "\n";
  pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
  if (poll(&standard_error, 1, 0) > 0 && write(STDERR_FILENO, text.data(), text.size()) < 0)
    std::_Exit(InterruptedByUser);
  std::_Exit(InterruptedByUser);
}

} // namespace

void catch_signals() {
  if (!watchdog)
    watchdog = new Watchdog(end_unheeded);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN || comes_again(signal)) // nohup
      std::signal(signal, request_stop);
  }
}

void when_ended_unheeded(std::function<std::string()> last_words) {
  const std::lock_guard lock(words_mutex);
  words = std::move(last_words);
}

void end_with_starter() {
  constexpr const char *variable = "REPRO_MINIFY_ENDS_WITH";
  const char *text = std::getenv(variable);
  if (text == nullptr)
    return;
  const auto starter = static_cast<pid_t>(std::strtol(text, nullptr, 10));
  unsetenv(variable); // it is not meant for what this process starts
  const bool was_parent = getppid() == starter;
  if (was_parent)
    prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have ended before that. Where a script stands between the two there is no signal, and nothing has ended.
  const bool is_gone = was_parent ? getppid() != starter : starter > 0 && kill(starter, 0) != 0 && errno == ESRCH;
  if (is_gone)
    std::raise(SIGTERM);
}

bool stop_requested() {
  if (Watchdog *dog = watchdog)
    dog->notice();
  return requested;
}

int exit_code_unless_stopped(int code) {
  return requested ? static_cast<int>(InterruptedByUser) : code;
}

} // namespace repro_minify
