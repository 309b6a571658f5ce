// Edits that remove one node, or one value that a loop carries, and that no cut can do.
#pragma once

#include "reduce/passes/pass.h"
#include "repro_minify/program.h"

#include <vector>

namespace repro_minify {

/// Returns the edits that can be tried on node number `node` (depth first), likeliest first. `program` must outlive the
/// list and stay as it is until one of them was made.
std::vector<LazyProgram> single_edits(const Program &program, int node);

/// Each value that this prim::Loop carries left as it was before the loop; none for another node.
std::vector<LazyProgram> loop_edits(const Program &program, const torch::jit::Node *loop);

} // namespace repro_minify
