// torch::jit::optimize_for_inference: freezing, then oneDNN and the like. The result runs in the plain interpreter.
#include "backends/backend_registry.h"
#include "backends/libtorch/pipelines.h"
#include "backends/libtorch/simple_backend.h"

#include <torch/csrc/jit/api/module.h>

namespace repro_minify {

std::unique_ptr<Backend> make_optimize_for_inference_backend(const BackendOptions &) {
  return make_simple_backend(
      {.name = "optimize-for-inference",
       .summary = "torch::jit::optimize_for_inference (freeze, then oneDNN graphs), run by the plain interpreter",
       .title = "torch::jit::optimize_for_inference",
       .compile =
           [](torch::jit::Module module) {
             return call_frozen(std::move(module),
                                [](torch::jit::Module &one) { return torch::jit::optimize_for_inference(one); });
           },
       .source = {{},
                  R"(  torch::jit::setGraphExecutorOptimize(true);
  torch::jit::Module optimised = torch::jit::optimize_for_inference(module);
  torch::jit::setGraphExecutorOptimize(false);  // the plain interpreter runs the result
  auto call = [optimised](std::vector<c10::IValue> inputs) mutable { return optimised.forward(std::move(inputs)); };
)"},
       .python = frozen_call("torch.jit.optimize_for_inference"),
       .traits = {.gradients = Gradients::IfItHasAny, .needs_eval = true},
       .pipeline = optimize_for_inference_pipeline()});
}

} // namespace repro_minify
