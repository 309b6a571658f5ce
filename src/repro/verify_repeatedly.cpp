#include "repro/verify_repeatedly.h"

#include <string>

namespace repro_minify {
namespace {

bool was_not_run(const ReproRun &run) {
  return run.job_end.ending != Ending::Cancelled && !is_answer(run.job_end);
}

} // namespace

Verification verify_repeatedly(const std::function<ReproRun()> &run,
                               const std::function<Verification(const ReproRun &)> &judge, const Repetition &repetition,
                               const std::function<bool()> &interrupted) {
  int failed = 0;
  Verification last;
  for (int i = 0; i < repetition.runs && failed < repetition.need; ++i) {
    last = judge(until_answered(run, was_not_run, interrupted));
    failed += last.same_failure;
  }
  if (failed < repetition.need && repetition.runs > 1)
    return {false, "repro failed in " + std::to_string(failed) + " of " + std::to_string(repetition.runs) +
                       " runs; of the last: " + last.message};
  return last;
}

} // namespace repro_minify
