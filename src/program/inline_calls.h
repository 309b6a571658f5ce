// Calls, tasks and `with` blocks as plain nodes.
#pragma once
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace repro_minify {

/// Inlines every call, and every task that is waited for where it can be seen. The first input of `graph` is `self`.
/// Throws CannotFlatten.
void inline_calls(const std::shared_ptr<torch::jit::Graph> &graph, const c10::intrusive_ptr<c10::ivalue::Object> &self);

} // namespace repro_minify
