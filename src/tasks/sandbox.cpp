#include "repro_minify/sandbox.h"

#include "tasks/task.h"

namespace repro_minify {

const char *to_string(Ending ending) {
  switch (ending) {
  case Ending::Replied:
    return "replied";
  case Ending::Threw:
    return "threw an exception";
  case Ending::Exited:
    return "exited";
  case Ending::Crashed:
    return "crashed";
  case Ending::TimedOut:
    return "timed out";
  case Ending::OutOfMemory:
    return "ran out of memory";
  case Ending::Killed:
    return "was killed from outside";
  case Ending::Cancelled:
    return "was cancelled";
  }
  return "?";
}

JobEnd run_in_sandbox(const Job &job, const Limits &limits) {
  return Task<JobEnd>([&job](Child &child) { job(child); }, limits).wait();
}

} // namespace repro_minify
