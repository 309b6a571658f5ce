// `with torch.autocast(...)` in a TorchScript model: blocks that mean nothing to the interpreter, and that the executor
// replaces by casts when it optimises. Left to that, a model with one would differ from itself.
#pragma once
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace repro_minify {

/// True if the node enters or leaves such a block.
bool is_autocast_block(const torch::jit::Node *node);

/// Writes out the casts of every block. For a graph without calls; the nodes that enter and leave the blocks stay, and
/// mean nothing any more. Throws CannotFlatten.
void write_out_casts(const std::shared_ptr<torch::jit::Graph> &graph);

/// The same for the `forward` of a module, if it has any such block, with all that it calls. A module that cannot be
/// written out stays as it is.
void write_out_casts(torch::jit::Module &module);

} // namespace repro_minify
