// Questions about all nodes of a graph, those in blocks included.
#pragma once
#include <torch/csrc/jit/ir/ir.h>

#include <functional>

namespace repro_minify {

/// Whether one of them is what `is` says.
bool any_node(const torch::jit::Block *block, const std::function<bool(const torch::jit::Node *)> &is);

/// Whether the operator writes to an operand, by its schema.
bool writes(const torch::jit::Node *node);

/// Whether any node does.
bool writes_to_something(const torch::jit::Graph &graph);

/// Whether any node may give another value the next time.
bool draws_random_numbers(const torch::jit::Graph &graph);

} // namespace repro_minify
