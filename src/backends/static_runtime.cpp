// Static Runtime: the frozen graph with planned memory and out variants of operators.
#include "backends/pipelines.h"
#include "backends/registry.h"
#include "backends/simple_backend.h"

#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/static/impl.h>

namespace repro_minify {
namespace {

/// What it does before it runs anything, for the plain interpreter.
Compiled frozen_only(const torch::jit::Module &module) {
  Compiled compiled = call_forward(torch::jit::freeze_module(module));
  torch::jit::setGraphExecutorOptimize(false);
  return compiled;
}

Compiled compile(const torch::jit::Module &module) {
  if (!step_runs("FreezeModule"))
    return call_forward(module);
  // Inlining, which it starts with, is left out when the executor must not optimise.
  torch::jit::setGraphExecutorOptimize(true);
  if (!step_runs("StaticRuntime"))
    return frozen_only(module);
  torch::jit::StaticModuleOptions options;
  options.enable_out_variant = step_runs("OutVariants");
  options.optimize_memory = options.enable_out_variant && step_runs("OptimizeMemory");
  auto runtime = std::make_shared<torch::jit::StaticModule>(module, /*is_frozen=*/false, options);
  return [runtime](std::vector<c10::IValue> arguments) { return (*runtime)(arguments, {}); };
}

} // namespace

std::unique_ptr<Backend> make_static_runtime_backend(const BackendOptions &) {
  return make_simple_backend({.name = "static-runtime",
                              .summary = "Static Runtime (planned memory, out variants of operators)",
                              .title = "Static Runtime",
                              .compile = compile,
                              .source = {{"torch/csrc/jit/runtime/static/impl.h"},
                                         R"(  torch::jit::setGraphExecutorOptimize(true);
  auto runtime = std::make_shared<torch::jit::StaticModule>(module);
  auto call = [runtime](std::vector<c10::IValue> inputs) { return (*runtime)(inputs, {}); };
)"},
                              .needs_eval = true,
                              .pipeline = static_runtime_pipeline()});
}

} // namespace repro_minify
