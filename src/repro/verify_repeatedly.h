// Runs of what was written, as many as it takes to know.
#pragma once
#include "repro/judge_run.h"
#include "tasks/sandbox.h"

#include <functional>

namespace repro_minify {

/// Again, after a pause, as long as what came of it is the machine's trouble.
template <typename Run, typename IsTrouble>
auto until_answered(const Run &run, const IsTrouble &is_trouble, const std::function<bool()> &interrupted) {
  for (int again = 0;; ++again) {
    auto ended = run();
    if (!is_trouble(ended) || again == most_asked_again || !pause_before_asking_again(again, interrupted))
      return ended;
  }
}

/// Runs and judges as often as `repetition` says. A run that the machine could not do is repeated, and says nothing.
Verification verify_repeatedly(const std::function<ReproRun()> &run,
                               const std::function<Verification(const ReproRun &)> &judge, const Repetition &repetition,
                               const std::function<bool()> &interrupted);

} // namespace repro_minify
