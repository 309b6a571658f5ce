// One node of a graph, run as the interpreter runs it.
#pragma once
#include <torch/csrc/jit/ir/ir.h>

#include <ATen/core/ivalue.h>

#include <vector>

namespace repro_minify {

/// `stack` holds the operands, one for each input, and then the results. Not for prim::If and prim::Loop, whose blocks
/// read more than their operands.
void run_node(torch::jit::Node *node, std::vector<c10::IValue> &stack);

} // namespace repro_minify
