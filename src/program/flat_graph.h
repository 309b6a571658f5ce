// The steps of flattening a graph, and how it is tidied in between.
#pragma once

#include "program/graph.h"
#include "program/materialise.h"
#include "repro_minify/flatten.h"
#include "repro_minify/program.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <memory>

namespace repro_minify {

// Helpers that the steps of flattening share: they tidy a graph that is being made flat.

/// A tuple, list or dict that is returned becomes its parts, as deep as the packing goes, unless it is filled after it
/// was made. A None is not returned.
void unpack_outputs(Graph &graph);

/// Removes constants and packing nodes that nothing reads. (PyTorch's own dead-code elimination trusts alias
/// annotations, and some of the failures looked for are wrong annotations.)
void remove_unused_constants(Graph &graph);
/// Removes unused constants and packing nodes, and the inputs that nothing reads.
void drop_unused(Program &program);

// The form that every flat Program has, however it was made.

/// The last step of flattening: tensor constants become graph inputs, structured outputs their parts.
void finish_flat(Program &program);

// Calls, tasks and `with` blocks as plain nodes.

/// Inlines every call, and every task that is waited for where it can be seen. The first input of `graph` is `self`.
/// Throws CannotFlatten.
void inline_calls(const std::shared_ptr<Graph> &graph, const c10::intrusive_ptr<c10::ivalue::Object> &self);

// Turns a model's attributes into values of the graph.

/// Replaces reads of attributes by graph inputs (tensors) and constants, and assignments by values, which prim::If and
/// prim::Loop hand on; objects that are made while the model runs become what is assigned to them. `self` is the
/// graph's value for `object`. Throws CannotFlatten.
void resolve_attributes(Program &program, InputBuilder &builder, Value *self,
                        const c10::intrusive_ptr<c10::ivalue::Object> &object);

// `with torch.autocast(...)` in a TorchScript model: blocks that mean nothing to the interpreter, and that the executor
// replaces by casts when it optimises. Left to that, a model with one would differ from itself.

/// True if the node enters or leaves such a block.
bool is_autocast_block(const Node *node);

/// Writes out the casts of every block. For a graph without calls; the nodes that enter and leave the blocks stay, and
/// mean nothing any more. Throws CannotFlatten.
void write_out_casts(const std::shared_ptr<Graph> &graph);

/// The same for the `forward` of a module, if it has any such block, with all that it calls. A module that cannot be
/// written out stays as it is.
void write_out_casts(torch::jit::Module &module);

} // namespace repro_minify
