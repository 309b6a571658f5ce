// Static Runtime: the frozen graph with planned memory and out variants of operators.
#include "backends/backend_parts.h"
#include "backends/backend_registry.h"
#include "backends/libtorch/pipelines.h"
#include "backends/libtorch/simple_backend.h"
#include "core/text.h"
#include "repro_minify/record.h"

#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/static/impl.h>

#include <set>

namespace repro_minify {
namespace {

/// Freezes the module, as Static Runtime does before it runs anything, for the plain interpreter.
Compiled frozen_only(const torch::jit::Module &module) {
  Compiled compiled = call_forward(torch::jit::freeze_module(module));
  torch::jit::setGraphExecutorOptimize(false);
  return compiled;
}

/// A graph with a node of the same kind, and nothing else that Static Runtime could mind.
std::shared_ptr<torch::jit::Graph> alone(const torch::jit::Node *node) {
  auto graph = std::make_shared<torch::jit::Graph>();
  if (!node->blocks().empty()) {
    graph->insertNode(graph->create(node->kind(), node->outputs().size()));
    return graph;
  }
  const auto input = [&](const torch::jit::Value *value) { return graph->addInput()->setType(value->type()); };
  graph->insertNode(graph->createClone(const_cast<torch::jit::Node *>(node), input));
  return graph;
}

/// Static Runtime says no to some operators: that is no failure. It does not say which in its exception.
void require_supported(const torch::jit::Module &module) {
  const auto graph = torch::jit::freeze_module(module.deepcopy()).get_method("forward").graph();
  if (torch::jit::canEnableStaticRuntime(graph))
    return;
  std::set<std::string> names;
  for (const torch::jit::Node *node : all_nodes(*graph))
    if (node->kind() != torch::jit::prim::Constant && !torch::jit::canEnableStaticRuntime(alone(node)))
      names.insert(node->kind().toQualString());
  const std::string text = joined({names.begin(), names.end()});
  throw CannotCompile("Static Runtime does not support " + (text.empty() ? "an operator in it" : text));
}

std::shared_ptr<torch::jit::StaticModule> static_module(const torch::jit::Module &module,
                                                        const torch::jit::StaticModuleOptions &options) {
  try {
    return std::make_shared<torch::jit::StaticModule>(module, /*is_frozen=*/false, options);
  } catch (const std::exception &) {
    require_supported(module);
    throw;
  }
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
  return [runtime = static_module(module, options)](std::vector<c10::IValue> arguments) {
    return (*runtime)(arguments, {});
  };
}

/// Returns the call that torch/csrc/jit/runtime/static/init.cpp has for Python.
PythonCall in_python() {
  PythonCall call;
  call.optimised = "torch._C._jit_to_static_module(torch.jit.script(model)._c)";
  call.needs_module = true;
  return call;
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
                              .python = in_python(),
                              .traits = {.gradients = Gradients::IfItHasAny, .needs_eval = true},
                              .pipeline = static_runtime_pipeline()});
}

} // namespace repro_minify
