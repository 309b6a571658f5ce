// Repeated structure: most models are a few kinds of blocks, many times over.
#pragma once

#include "core/dataflow.h"

#include <cstdint>
#include <string>
#include <vector>

namespace repro_minify {

/// Returns a colour for each node, which two nodes share exactly when their surroundings up to `rounds` hops look the
/// same: same labels, read and made in the same way (Weisfeiler-Lehman refinement over both directions of the edges).
/// `labels` names the operator of each node. Colours are 64-bit hashes, the same on every machine.
std::vector<std::uint64_t> structural_colours(const Dataflow &dataflow, const std::vector<std::string> &labels,
                                              int rounds);

/// Returns the first node of each colour within `within` (in topological order), with all that is at most `rounds` hops
/// away inside `within`: a small part that holds an example of every piece of the whole.
IndexSet one_of_each_repeat(const Dataflow &dataflow, const std::vector<std::string> &labels, const IndexSet &within,
                            int rounds = 2);

} // namespace repro_minify
