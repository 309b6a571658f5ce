#include "tasks/run_until_answered.h"

#include "repro_minify/sandbox.h"

#include <chrono>
#include <functional>
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

bool is_answer(const JobEnd &job_end) {
  return job_end.ending != Ending::Killed && job_end.ending != Ending::Cancelled &&
         !(job_end.ending == Ending::Exited && job_end.exit_code == -1);
}

JobEnd run_until_answered(const Job &job, const Limits &limits) {
  for (int again = 0;; ++again) {
    JobEnd job_end = run_in_sandbox(job, limits);
    if (is_answer(job_end) || again == most_asked_again || !pause_before_asking_again(again, limits.interrupted))
      return job_end;
  }
}

} // namespace repro_minify
