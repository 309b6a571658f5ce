// The way that a recorded run took through control flow, node by node.
#pragma once
#include "repro_minify/record.h"

#include <cstdint>
#include <vector>

namespace repro_minify {

/// Returns for each node index (Recording::nodes): for a prim::If which block was taken (0 or 1), for a prim::Loop how
/// many trips it made, once for each time that it was executed, in that order. Empty for every other node.
std::vector<std::vector<int64_t>> path_of(const Recording &recording);

/// The block of a prim::If that was taken whenever it was executed; nullptr when that differs, or when it never was.
torch::jit::Block *only_block_taken(const torch::jit::Node *node, const std::vector<int64_t> &decisions);

} // namespace repro_minify
