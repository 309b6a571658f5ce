// The profiling executor with its default passes and fusers: what every TorchScript user gets from the second or third
// call on.
#include "backends/backend_registry.h"
#include "backends/libtorch/pipelines.h"
#include "backends/libtorch/simple_backend.h"

namespace repro_minify {

std::unique_ptr<Backend> make_jit_backend(const BackendOptions &) {
  return make_simple_backend(
      {.name = "jit",
       .summary = "the profiling executor (optimises from its second call on); with --grad its symbolic autodiff too",
       .title = "TorchScript's profiling executor",
       .compile = call_optimised,
       .source = {{"torch/csrc/jit/runtime/graph_executor.h"},
                  R"(  torch::jit::setGraphExecutorOptimize(true);  // the default: profile, then optimise
  auto call = [module](std::vector<c10::IValue> inputs) mutable { return module.forward(std::move(inputs)); };
)"},
       .python = scripted_call(),
       .traits = {.runs_the_module = true},
       .pipeline = executor_pipeline(),
       .switches = executor_switches()});
}

} // namespace repro_minify
