// Programs with hundreds of parameters as modules.
#pragma once

#include "repro_minify/program.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <set>

namespace repro_minify {

/// Does what instantiate() does, but spreads parameters and buffers over submodules where there are many: to find one
/// of a module's attributes LibTorch looks at all of them, several times for each. Not for backends that take flat
/// graphs only: they look no further than the module itself.
Instance instantiate_in_parts(const Program &program, const InstantiateOptions &options = {});

// Moves operators with wrong alias annotations out of sight of TorchScript's compiler.

/// Each node of one of these kinds whose result is written to later becomes a call of a new method of `module` that
/// does nothing else. The first input of `graph` is self.
void outline_hidden_aliases(torch::jit::Module &module, torch::jit::Graph &graph, const std::set<c10::Symbol> &kinds);

} // namespace repro_minify
