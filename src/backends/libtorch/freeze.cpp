// Freezing. The result runs in the plain interpreter, so that a failure is freezing's own.
#include "backends/backend_registry.h"
#include "backends/libtorch/pipelines.h"
#include "backends/libtorch/simple_backend.h"

namespace repro_minify {
namespace {

using torch::jit::Module;

/// `function` of torch::jit makes the module that is called `result` in repro.cpp.
std::unique_ptr<Backend> frozen_by(const std::string &function, const std::string &result, Module (*freeze)(Module &),
                                   BackendDescription description) {
  description.title = "torch::jit::" + function;
  description.compile = [freeze](Module module) { return call_frozen(std::move(module), freeze); };
  description.source.prepare =
      "  torch::jit::setGraphExecutorOptimize(true);\n  torch::jit::Module " + result + " = torch::jit::" + function +
      "(module);\n  torch::jit::setGraphExecutorOptimize(false);  // the plain interpreter runs the result\n"
      "  auto call = [" +
      result + "](std::vector<c10::IValue> inputs) mutable { return " + result + ".forward(std::move(inputs)); };\n";
  description.python = frozen_call("torch.jit." + function);
  description.traits.needs_eval = true;
  return make_simple_backend(std::move(description));
}

} // namespace

/// Parameters become constants, batch norms are folded.
std::unique_ptr<Backend> make_freeze_backend(const BackendOptions &) {
  return frozen_by("freeze", "frozen", [](Module &module) { return torch::jit::freeze(module); },
                   {.name = "freeze",
                    .summary = "torch::jit::freeze (constants in, batch norms folded), run by the plain interpreter",
                    .traits = {.gradients = Gradients::OfInputs},
                    .pipeline = freeze_pipeline()});
}

/// Freezing, then oneDNN and the like.
std::unique_ptr<Backend> make_optimize_for_inference_backend(const BackendOptions &) {
  return frozen_by(
      "optimize_for_inference", "optimised", [](Module &module) { return torch::jit::optimize_for_inference(module); },
      {.name = "optimize-for-inference",
       .summary = "torch::jit::optimize_for_inference (freeze, then oneDNN graphs), run by the plain interpreter",
       .traits = {.gradients = Gradients::IfItHasAny},
       .pipeline = optimize_for_inference_pipeline()});
}

} // namespace repro_minify
