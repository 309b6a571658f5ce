// Questions about all nodes of a graph, those in blocks included.
#pragma once
#include <torch/csrc/jit/ir/ir.h>

#include <functional>

namespace repro_minify {

/// True if `is` is true of any node of the block.
bool any_node(const torch::jit::Block *block, const std::function<bool(const torch::jit::Node *)> &is);

/// True if the operator writes to an operand, by its schema.
bool writes(const torch::jit::Node *node);

/// True if any node writes to an operand.
bool writes_to_something(const torch::jit::Graph &graph);

/// True if any node may give another value the next time.
bool draws_random_numbers(const torch::jit::Graph &graph);

} // namespace repro_minify
