// Static Runtime: the frozen graph with planned memory and out variants of operators.
#include "backends/registry.h"
#include "backends/simple_backend.h"

#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/static/impl.h>

namespace repro_minify {

std::unique_ptr<Backend> make_static_runtime_backend(const BackendOptions &) {
  return make_simple_backend({.name = "static-runtime",
                              .summary = "Static Runtime (planned memory, out variants of operators)",
                              .title = "Static Runtime",
                              .compile = [](torch::jit::Module module) -> Compiled {
                                // Inlining, which it starts with, is left out when the executor must not optimise.
                                torch::jit::setGraphExecutorOptimize(true);
                                auto runtime = std::make_shared<torch::jit::StaticModule>(module);
                                return
                                    [runtime](std::vector<c10::IValue> arguments) { return (*runtime)(arguments, {}); };
                              },
                              .source = {{"torch/csrc/jit/runtime/static/impl.h"},
                                         R"(  torch::jit::setGraphExecutorOptimize(true);
  auto runtime = std::make_shared<torch::jit::StaticModule>(module);
  auto call = [runtime](std::vector<c10::IValue> inputs) { return (*runtime)(inputs, {}); };
)"},
                              .needs_eval = true});
}

} // namespace repro_minify
