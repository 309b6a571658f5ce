// Moves operators with wrong alias annotations out of sight of TorchScript's compiler.
#pragma once
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <set>

namespace repro_minify {

/// Each node of one of these kinds whose result is written to later becomes a call of a new method of `module` that
/// does nothing else. The first input of `graph` is self.
void outline_hidden_aliases(torch::jit::Module &module, torch::jit::Graph &graph, const std::set<c10::Symbol> &kinds);

} // namespace repro_minify
