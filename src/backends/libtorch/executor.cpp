// TorchScript's interpreter, and the profiling executor with its passes and fusers.
#include "backends/backend_registry.h"
#include "backends/libtorch/pipelines.h"
#include "backends/libtorch/simple_backend.h"

#include <torch/csrc/jit/codegen/fuser/interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/tensorexpr/kernel.h>

namespace repro_minify {
namespace {

constexpr const char *call_of_module =
    R"(  auto call = [module](std::vector<c10::IValue> inputs) mutable { return module.forward(std::move(inputs)); };
)";

std::unique_ptr<Backend> on_executor(BackendDescription description) {
  description.source.prepare += call_of_module;
  description.traits.runs_the_module = true;
  description.pipeline = executor_pipeline();
  description.switches = executor_switches();
  return make_simple_backend(std::move(description));
}

Compiled call_with_nnc(torch::jit::Module module) {
  torch::jit::setGraphExecutorOptimize(true);
  torch::jit::tensorexpr::getTEMustUseLLVMOnCPU() = false;
  torch::jit::overrideCanFuseOnCPU(true);
  torch::jit::setTensorExprFuserEnabled(true);
  return call_forward(std::move(module));
}

} // namespace

/// The interpreter again, nothing optimised: a backend that agrees with eager by construction. For trying out the tool,
/// and for finding a check that cannot be trusted.
std::unique_ptr<Backend> make_eager_backend(const BackendOptions &) {
  return make_simple_backend({.name = "eager",
                              .summary = "the TorchScript interpreter without optimisation, against itself",
                              .title = "the unoptimised interpreter",
                              .compile = call_forward,
                              .source = {{}, call_of_module},
                              .traits = {.runs_the_module = true}});
}

/// The profiling executor with its default passes and fusers: what every TorchScript user gets from the second or third
/// call on.
std::unique_ptr<Backend> make_jit_backend(const BackendOptions &) {
  return on_executor(
      {.name = "jit",
       .summary = "the profiling executor (optimises from its second call on); with --grad its symbolic autodiff too",
       .title = "TorchScript's profiling executor",
       .compile = call_optimised,
       .source = {{"torch/csrc/jit/runtime/graph_executor.h"},
                  "  torch::jit::setGraphExecutorOptimize(true);  // the default: profile, then optimise\n"},
       .python = scripted_call()});
}

/// The JIT's own autocast pass against eager autocast: both sides run under CPU autocast in bfloat16, and the executor
/// inserts the casts itself when it optimises.
std::unique_ptr<Backend> make_autocast_backend(const BackendOptions &) {
  return on_executor(
      {.name = "autocast",
       .summary = "the JIT's autocast pass against eager autocast (CPU, bfloat16)",
       .title = "the JIT's autocast pass",
       .compile = call_optimised,
       .source = {{"torch/csrc/jit/runtime/graph_executor.h"},
                  "  torch::jit::setGraphExecutorOptimize(true);  // the executor runs its own autocast pass\n"},
       .python = scripted_call(),
       .traits = {.autocast = true}});
}

/// The profiling executor with the tensor-expression fuser (NNC) allowed on the CPU. Without LLVM in the build its
/// kernels are evaluated by NNC's own interpreter: slow, but the same lowering, and so the same bugs.
std::unique_ptr<Backend> make_nnc_backend(const BackendOptions &) {
  return on_executor(
      {.name = "nnc",
       .summary =
           "the profiling executor with the tensor-expression fuser (NNC) on the CPU; without LLVM its IR is evaluated",
       .title = "the tensor-expression fuser (NNC) on the CPU",
       .compile = call_with_nnc,
       .source = {{"torch/csrc/jit/codegen/fuser/interface.h", "torch/csrc/jit/passes/tensorexpr_fuser.h",
                   "torch/csrc/jit/runtime/graph_executor.h"},
                  R"(  torch::jit::setGraphExecutorOptimize(true);
  torch::jit::tensorexpr::getTEMustUseLLVMOnCPU() = false;  // evaluate the IR where the build has no LLVM
  torch::jit::overrideCanFuseOnCPU(true);
  torch::jit::setTensorExprFuserEnabled(true);
)",
                  R"(// Of torch/csrc/jit/tensorexpr/kernel.h, which takes as long to compile as everything else.
namespace torch::jit::tensorexpr { TORCH_API bool& getTEMustUseLLVMOnCPU(); }
)"},
       .python = scripted_call({"torch._C._jit_set_te_must_use_llvm_cpu(False)",
                                "torch._C._jit_override_can_fuse_on_cpu(True)",
                                "torch._C._jit_set_texpr_fuser_enabled(True)"})});
}

} // namespace repro_minify
