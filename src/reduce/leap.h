// Many simplifications in one question. Where a hang is looked for, each candidate that still hangs takes the whole
// time limit, and one that passes takes a moment: what most likely works is asked for together.
#pragma once
#include "reduce/candidate_checker.h"
#include "reduce/turns.h"

#include <vector>

namespace repro_minify {

/// The Programs that the passes of Goal::Simplicity would come to from there, one after another, if all that they try
/// worked but what this run was told does not. Runs no check; the same for any number of jobs. Empty where that takes
/// too many questions.
std::vector<Program> steps_if_all_works(const CandidateChecker &checker, const LastRecording &recorder,
                                        const std::vector<const ReductionPass *> &passes, const ReductionState &from);

} // namespace repro_minify
