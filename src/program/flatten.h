// From a loaded model to a flat Program: calls inlined, attributes resolved, control flow replaced by the path that was
// taken.
#pragma once
#include "program/load.h"
#include "repro_minify/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace repro_minify {

/// Thrown when a model has something that no flat graph can say; the message names it.
class CannotFlatten : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Inlines every call, turns parameters, buffers and tensor constants into graph inputs of their role, other attributes
/// and non-tensor arguments into constants, and unpacks structured outputs. prim::If and prim::Loop stay.
Program flatten_calls(const LoadedModel &model, const std::vector<c10::IValue> &arguments);

bool has_control_flow(const Program &program);

/// Which way every prim::If went (0 or 1) and how often every prim::Loop ran, in the order of execution (from a
/// Recording).
using Decisions = std::vector<int64_t>;

/// The straight line of nodes that were executed. Throws CannotFlatten past `max_nodes`.
Program follow_decisions(const Program &program, const Decisions &decisions, size_t max_nodes = 20000);

/// A tuple, list or dict that is returned becomes its parts, as deep as the packing goes, unless it is filled after it
/// was made. A None is not returned.
void unpack_outputs(torch::jit::Graph &graph);

/// Removes constants and packing nodes that nobody reads. (PyTorch's own dead-code elimination trusts alias
/// annotations, and some of the failures looked for are wrong annotations.)
void remove_unused_constants(torch::jit::Graph &graph);
/// Likewise, and the inputs that nothing reads.
void drop_unused(Program &program);

} // namespace repro_minify
