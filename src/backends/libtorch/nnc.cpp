// The profiling executor with the tensor-expression fuser (NNC) allowed on the CPU. Without LLVM in the build its
// kernels are evaluated by NNC's own interpreter: slow, but the same lowering, and so the same bugs.
#include "backends/backend_registry.h"
#include "backends/libtorch/pipelines.h"
#include "backends/libtorch/simple_backend.h"

#include <torch/csrc/jit/codegen/fuser/interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/tensorexpr/kernel.h>

namespace repro_minify {

std::unique_ptr<Backend> make_nnc_backend(const BackendOptions &) {
  return make_simple_backend(
      {.name = "nnc",
       .summary =
           "the profiling executor with the tensor-expression fuser (NNC) on the CPU; without LLVM its IR is evaluated",
       .title = "the tensor-expression fuser (NNC) on the CPU",
       .compile =
           [](torch::jit::Module module) {
             torch::jit::setGraphExecutorOptimize(true);
             torch::jit::tensorexpr::getTEMustUseLLVMOnCPU() = false;
             torch::jit::overrideCanFuseOnCPU(true);
             torch::jit::setTensorExprFuserEnabled(true);
             return call_forward(std::move(module));
           },
       .source = {{"torch/csrc/jit/codegen/fuser/interface.h", "torch/csrc/jit/passes/tensorexpr_fuser.h",
                   "torch/csrc/jit/runtime/graph_executor.h"},
                  R"(  torch::jit::setGraphExecutorOptimize(true);
  torch::jit::tensorexpr::getTEMustUseLLVMOnCPU() = false;  // evaluate the IR where the build has no LLVM
  torch::jit::overrideCanFuseOnCPU(true);
  torch::jit::setTensorExprFuserEnabled(true);
  auto call = [module](std::vector<c10::IValue> inputs) mutable { return module.forward(std::move(inputs)); };
)",
                  R"(// Of torch/csrc/jit/tensorexpr/kernel.h, which takes as long to compile as everything else.
namespace torch::jit::tensorexpr { TORCH_API bool& getTEMustUseLLVMOnCPU(); }
)"},
       .python = scripted_call({"torch._C._jit_set_te_must_use_llvm_cpu(False)",
                                "torch._C._jit_override_can_fuse_on_cpu(True)",
                                "torch._C._jit_set_texpr_fuser_enabled(True)"}),
       .traits = {.runs_the_module = true},
       .pipeline = executor_pipeline(),
       .switches = executor_switches()});
}

} // namespace repro_minify
