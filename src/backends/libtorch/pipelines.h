// The steps that each backend runs, in order, as PyTorch 2.13.0 does. docs/bisect.md lists them for users.
#pragma once
#include "backends/libtorch/pass_gate.h"

#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// The profiling executor: what is done before it, before it profiles, and after that
/// (torch/csrc/jit/api/function_impl.cpp, runtime/profiling_graph_executor_impl.cpp). Not steps: inlining, the lowering
/// of prim::GradOf, profiling, the removal of what it leaves behind; without them nothing runs.
Pipeline executor_pipeline();
/// The steps of it that PyTorch has switches for: setAutocastMode, and PYTORCH_JIT_OPT_LIMIT for the fuser.
std::vector<std::pair<std::string, void (*)()>> executor_switches();
/// torch::jit::freeze (api/module.cpp, passes/freeze_module.cpp, passes/frozen_graph_optimizations.cpp). The switch
/// FreezeModule: attributes become constants.
Pipeline freeze_pipeline();
/// torch::jit::optimize_for_inference (api/module.cpp).
Pipeline optimize_for_inference_pipeline();
/// torch::jit::StaticModule (runtime/static/impl.cpp). The switches FreezeModule; StaticRuntime: its interpreter runs
/// the graph; OutVariants, and OptimizeMemory: what StaticModuleOptions calls so.
Pipeline static_runtime_pipeline();

} // namespace repro_minify
