// The JIT's own autocast pass against eager autocast: both sides run under CPU autocast in bfloat16, and the executor
// inserts the casts itself when it optimises.
#include "backends/backend_registry.h"
#include "backends/libtorch/pipelines.h"
#include "backends/libtorch/simple_backend.h"

namespace repro_minify {

std::unique_ptr<Backend> make_autocast_backend(const BackendOptions &) {
  return make_simple_backend(
      {.name = "autocast",
       .summary = "the JIT's autocast pass against eager autocast (CPU, bfloat16)",
       .title = "the JIT's autocast pass",
       .compile = call_optimised,
       .source = {{"torch/csrc/jit/runtime/graph_executor.h"},
                  R"(  torch::jit::setGraphExecutorOptimize(true);  // the executor runs its own autocast pass
  auto call = [module](std::vector<c10::IValue> inputs) mutable { return module.forward(std::move(inputs)); };
)"},
       .python = scripted_call(),
       .traits = {.autocast = true, .runs_the_module = true},
       .pipeline = executor_pipeline(),
       .switches = executor_switches()});
}

} // namespace repro_minify
