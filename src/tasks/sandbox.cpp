#include "tasks/sandbox.h"

#include "core/programs.h"
#include "repro_minify/sandbox.h"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>

namespace repro_minify {

const char *to_string(Ending ending) {
  constexpr const char *names[] = {
      "replied",           "threw an exception",      "exited",       "crashed", "timed out",
      "ran out of memory", "was killed from outside", "was cancelled"};
  return names[static_cast<size_t>(ending)];
}

JobEnd run_in_sandbox(const Job &job, const Limits &limits) {
  return Task<JobEnd>([&job](Child &child) { job(child); }, limits).wait();
}

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

bool comes_from_outside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

JobEnd run_until_answered(const Job &job, const Limits &limits) {
  for (int again = 0;; ++again) {
    JobEnd job_end = run_in_sandbox(job, limits);
    if (is_answer(job_end) || again == most_asked_again || !pause_before_asking_again(again, limits.interrupted))
      return job_end;
  }
}

JobEnd run_command(const std::vector<std::string> &words, std::chrono::seconds timeout,
                   const std::function<bool()> &interrupted) {
  Limits limits;
  limits.timeout = timeout;
  limits.interrupted = interrupted;
  return run_in_sandbox(
      [&](Child &) {
        // The files that it leaves when it is killed go with this run.
        setenv("TMPDIR", private_folder_of_children().c_str(), /*overwrite=*/1);
        become_program(words);
      },
      limits);
}

} // namespace repro_minify
