// From a loaded model to a flat Program: calls inlined, attributes resolved, control flow replaced by the path that was
// taken.
#pragma once
#include "repro_minify/load.h"
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

} // namespace repro_minify
