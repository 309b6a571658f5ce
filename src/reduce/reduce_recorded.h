// The parts of reduce(), for callers with needs of their own.
#pragma once

#include "reduce/passes/pass.h"
#include "repro_minify/record.h"
#include "repro_minify/reducer.h"

#include <memory>
#include <vector>

namespace repro_minify {

// reduce() for a caller who has run the Program already, value by value.

/// Does the same as reduce(); `recording` is of `start`, under the settings of `test`, or null.
Reduction reduce_recorded(const Program &start, std::shared_ptr<const Recording> recording,
                          const Verdict &start_verdict, const Signature &wanted, const InterestingnessTest &test,
                          const ReduceOptions &options);

// Several reductions of one program, each begun anew: what they took together.

/// The last Reduction, with what `earlier` has asked and taken counted as well. The operators that the passes of the
/// earlier one removed count where the last one went on from its result (`is_continued`), and not where it began anew.
Reduction with_earlier(Reduction last, const Reduction &earlier, bool is_continued);

// Which passes a reduction runs.

/// Those that the selection names, in registry order. Throws UserError for a name that no pass has.
std::vector<const ReductionPass *> selected_passes(const PassSelection &selection);

// A test that sees every candidate as its file has it.

/// interestingness_test() of candidates that were saved and loaded again, in the child that checks them. Slower; for
/// failures of which saving changes something.
InterestingnessTest reloading_test(std::shared_ptr<const Backend> backend, const CheckOptions &options);

} // namespace repro_minify
