// Which passes a reduction runs.
#pragma once
#include "reduce/passes/pass.h"
#include "repro_minify/reducer.h"

#include <vector>

namespace repro_minify {

/// Those that the selection names, in registry order. Throws UserError for a name that no pass has.
std::vector<const ReductionPass *> selected_passes(const PassSelection &selection);

} // namespace repro_minify
