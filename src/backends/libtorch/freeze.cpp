// torch::jit::freeze: parameters become constants, batch norms are folded. The result runs in the plain interpreter, so
// that a failure is freezing's own.
#include "backends/backend_registry.h"
#include "backends/libtorch/pipelines.h"
#include "backends/libtorch/simple_backend.h"

#include <torch/csrc/jit/api/module.h>

namespace repro_minify {

std::unique_ptr<Backend> make_freeze_backend(const BackendOptions &) {
  return make_simple_backend(
      {.name = "freeze",
       .summary = "torch::jit::freeze (constants in, batch norms folded), run by the plain interpreter",
       .title = "torch::jit::freeze",
       .compile =
           [](torch::jit::Module module) {
             return call_frozen(std::move(module), [](torch::jit::Module &one) { return torch::jit::freeze(one); });
           },
       .source = {{},
                  R"(  torch::jit::setGraphExecutorOptimize(true);
  torch::jit::Module frozen = torch::jit::freeze(module);
  torch::jit::setGraphExecutorOptimize(false);  // the plain interpreter runs the result
  auto call = [frozen](std::vector<c10::IValue> inputs) mutable { return frozen.forward(std::move(inputs)); };
)"},
       .python = frozen_call("torch.jit.freeze"),
       .traits = {.gradients = Gradients::OfInputs, .needs_eval = true},
       .pipeline = freeze_pipeline()});
}

} // namespace repro_minify
