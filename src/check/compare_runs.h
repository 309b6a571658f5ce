// Two runs of one Program, compared: outputs, gradients, and the state they leave behind. Internal to src/check.
#pragma once
#include "check/run_program.h"
#include "repro_minify/check.h"

namespace repro_minify {

/// Fills the leaves and Signatures of `verdict` from one comparison; true when everything is the same. `fp64` may be
/// null: then eager itself takes its place, as in PyTorch.
bool compare_runs(const Observed &ref, const Observed &res, const Observed *fp64, const CompareOptions &options,
                  Verdict &verdict);

/// True if two runs of one program gave the very same bits. Takes a hundredth of the time of a comparison, which counts
/// where a program returns thousands of values; false for values that it does not understand.
bool same_bits(const Observed &one, const Observed &other);

/// True if the two are so near to one another that, if `compare_runs` calls them the same without a reference, it does
/// so with one: every rule asks float64 only about what is further apart. False for values it does not understand.
bool float64_has_no_say(const Observed &ref, const Observed &res, const CompareOptions &options);

/// The mismatch that shows the most telling failure of a comparison, in one line.
std::string worst_message(const Verdict &verdict);

} // namespace repro_minify
