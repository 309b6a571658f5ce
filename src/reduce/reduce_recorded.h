// reduce() for a caller who has run the Program already, value by value.
#pragma once
#include "repro_minify/record.h"
#include "repro_minify/reducer.h"

#include <memory>

namespace repro_minify {

/// Does the same as reduce(); `recording` is of `start`, under the settings of `test`, or null.
Reduction reduce_recorded(const Program &start, std::shared_ptr<const Recording> recording,
                          const Verdict &start_verdict, const Signature &wanted, const InterestingnessTest &test,
                          const ReduceOptions &options);

} // namespace repro_minify
