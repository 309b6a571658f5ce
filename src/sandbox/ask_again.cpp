#include "sandbox/ask_again.h"

#include <chrono>
#include <thread>

namespace repro_minify {

using namespace std::chrono_literals;

bool pause_before_asking_again(int again, const std::function<bool()> &interrupted) {
  auto left = 100ms;
  for (int i = 0; i < again; ++i)
    left *= 3;
  for (; left > 0ms; left -= 100ms) {
    if (interrupted && interrupted())
      return false;
    std::this_thread::sleep_for(100ms);
  }
  return true;
}

bool is_answer(const Outcome &outcome) {
  return outcome.ending != Ending::Killed && outcome.ending != Ending::Cancelled &&
         !(outcome.ending == Ending::Exited && outcome.exit_code == -1);
}

Outcome run_until_answered(const Job &job, const Limits &limits) {
  for (int again = 0;; ++again) {
    Outcome outcome = run_in_sandbox(job, limits);
    if (is_answer(outcome) || again == most_asked_again || !pause_before_asking_again(again, limits.interrupted))
      return outcome;
  }
}

} // namespace repro_minify
