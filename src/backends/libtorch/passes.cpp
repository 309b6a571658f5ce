// pass:NAME[,NAME...]: named JIT passes on the flat graph, parameters as constants, run by the plain interpreter.
#include "backends/backend_registry.h"
#include "backends/libtorch/simple_backend.h"
#include "core/text.h"
#include "program/graph.h"

#include <torch/csrc/jit/passes/batch_mm.h>
#include <torch/csrc/jit/passes/common_subexpression_elimination.h>
#include <torch/csrc/jit/passes/constant_pooling.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/decompose_ops.h>
#include <torch/csrc/jit/passes/frozen_conv_folding.h>
#include <torch/csrc/jit/passes/frozen_linear_folding.h>
#include <torch/csrc/jit/passes/fuse_linear.h>
#include <torch/csrc/jit/passes/fuse_relu.h>
#include <torch/csrc/jit/passes/loop_unrolling.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/normalize_ops.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/remove_inplace_ops.h>
#include <torch/csrc/jit/passes/remove_mutation.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <set>

namespace repro_minify {
namespace {

using GraphPtr = std::shared_ptr<Graph>;

struct JitPass {
  const char *name;
  const char *summary;
  void (*run)(GraphPtr &graph);
  const char *header; ///< under torch/csrc/jit/passes/
  const char *source; ///< as it is written in repro.cpp
  const char *python; ///< and in repro.py; empty where Python has no such pass
};

const JitPass passes[] = {
    {"peephole", "PeepholeOptimize: local rewrites such as x * 1 -> x",
     [](GraphPtr &g) { jit::PeepholeOptimize(g, true); }, "peephole.h",
     "torch::jit::PeepholeOptimize(graph, /*disable_shape_peepholes=*/true);",
     "torch._C._jit_pass_peephole(graph, True)"},
    {"constant-propagation", "ConstantPropagation: runs what depends on constants alone",
     [](GraphPtr &g) { jit::ConstantPropagation(g); }, "constant_propagation.h",
     "torch::jit::ConstantPropagation(graph);", "torch._C._jit_pass_constant_propagation(graph)"},
    {"constant-pooling", "ConstantPooling: one node for equal constants", [](GraphPtr &g) { jit::ConstantPooling(g); },
     "constant_pooling.h", "torch::jit::ConstantPooling(graph);", "torch._C._jit_pass_constant_pooling(graph)"},
    {"cse", "EliminateCommonSubexpression", [](GraphPtr &g) { jit::EliminateCommonSubexpression(g); },
     "common_subexpression_elimination.h", "torch::jit::EliminateCommonSubexpression(graph);",
     "torch._C._jit_pass_cse(graph)"},
    {"dce", "EliminateDeadCode", [](GraphPtr &g) { jit::EliminateDeadCode(g); }, "dead_code_elimination.h",
     "torch::jit::EliminateDeadCode(graph);", "torch._C._jit_pass_dce(graph)"},
    {"remove-mutation", "RemoveListMutation and RemoveTensorMutation",
     [](GraphPtr &g) {
       jit::RemoveListMutation(g);
       jit::RemoveTensorMutation(g);
     },
     "remove_mutation.h", "torch::jit::RemoveListMutation(graph);\n  torch::jit::RemoveTensorMutation(graph);",
     "torch._C._jit_pass_remove_mutation(graph)"},
    {"remove-inplace-ops", "RemoveInplaceOps: in-place operators to functional ones (an ONNX helper)",
     [](GraphPtr &g) { jit::RemoveInplaceOps(g); }, "remove_inplace_ops.h", "torch::jit::RemoveInplaceOps(graph);",
     "torch._C._jit_pass_remove_inplace_ops(graph)"},
    {"fuse-add-relu", "FuseAddRelu: add then relu to one operator", [](GraphPtr &g) { jit::FuseAddRelu(g); },
     "fuse_relu.h", "torch::jit::FuseAddRelu(graph);", "torch._C._jit_pass_fuse_add_relu(graph)"},
    {"fold-conv-bn", "FoldFrozenConvBatchnorm: batch norms into convolutions",
     [](GraphPtr &g) { jit::FoldFrozenConvBatchnorm(g); }, "frozen_conv_folding.h",
     "torch::jit::FoldFrozenConvBatchnorm(graph);", "torch._C._jit_pass_fold_frozen_conv_bn(graph)"},
    {"fold-conv-add", "FoldFrozenConvAddOrSub: constants added to a convolution into its bias",
     [](GraphPtr &g) { jit::FoldFrozenConvAddOrSub(g); }, "frozen_conv_folding.h",
     "torch::jit::FoldFrozenConvAddOrSub(graph);", "torch._C._jit_pass_fold_frozen_conv_add_or_sub(graph)"},
    {"fold-conv-mul", "FoldFrozenConvMulOrDiv: constants multiplied with a convolution into its weight",
     [](GraphPtr &g) { jit::FoldFrozenConvMulOrDiv(g); }, "frozen_conv_folding.h",
     "torch::jit::FoldFrozenConvMulOrDiv(graph);", "torch._C._jit_pass_fold_frozen_conv_mul_or_div(graph)"},
    {"fold-linear-bn", "FoldFrozenLinearBatchnorm: batch norms into linear layers",
     [](GraphPtr &g) { jit::FoldFrozenLinearBatchnorm(g); }, "frozen_linear_folding.h",
     "torch::jit::FoldFrozenLinearBatchnorm(graph);", "torch._C._jit_pass_fold_frozen_linear_bn(graph)"},
    {"fuse-linear", "FuseLinear: matmul, transpose and add to linear", [](GraphPtr &g) { jit::FuseLinear(g); },
     "fuse_linear.h", "torch::jit::FuseLinear(graph);", "torch._C._jit_pass_fuse_linear(graph)"},
    {"decompose-ops", "DecomposeOps: addmm, batch_norm and layer_norm to simpler operators",
     [](GraphPtr &g) { jit::DecomposeOps(g); }, "decompose_ops.h", "torch::jit::DecomposeOps(graph);",
     "torch._C._jit_pass_decompose_ops(graph)"},
    {"batch-mm", "BatchMM: trees of mm to one larger mm", [](GraphPtr &g) { jit::BatchMM(g); }, "batch_mm.h",
     "torch::jit::BatchMM(graph);", "torch._C._jit_pass_batch_mm(graph)"},
    {"lower-tuples", "LowerSimpleTuples", [](GraphPtr &g) { jit::LowerSimpleTuples(g); }, "lower_tuples.h",
     "torch::jit::LowerSimpleTuples(graph);", ""},
    {"normalize-ops", "NormalizeOps: aliases of operators to their canonical names",
     [](GraphPtr &g) { jit::NormalizeOps(g); }, "normalize_ops.h", "torch::jit::NormalizeOps(graph);", ""},
    {"unroll-loops", "UnrollLoops", [](GraphPtr &g) { jit::UnrollLoops(g); }, "loop_unrolling.h",
     "torch::jit::UnrollLoops(graph);", "torch._C._jit_pass_loop_unrolling(graph)"},
};

const JitPass &pass_named(const std::string &name) {
  return *std::find_if(std::begin(passes), std::end(passes), [&](const JitPass &pass) { return name == pass.name; });
}

/// The graph of forward with parameters and buffers as constants and no self: what the passes are written for.
/// (freeze_module would run passes of its own.)
GraphPtr constant_graph(const jit::Module &module) {
  GraphPtr graph = module.get_method("forward").graph()->copy();
  for (auto it = graph->nodes().begin(); it != graph->nodes().end();) {
    Node *node = *it++;
    if (node->kind() != jit::prim::GetAttr)
      continue;
    jit::WithInsertPoint guard(node);
    node->output()->replaceAllUsesWith(
        graph->insertConstant(module.attr(node->s(jit::attr::name)).toTensor().detach()));
    node->destroy();
  }
  graph->eraseInput(0);
  return graph;
}

Compiled run_graph(const GraphPtr &graph) {
  jit::Code code(graph, "forward");
  return [code](std::vector<c10::IValue> arguments) {
    jit::InterpreterState(code).run(arguments);
    return arguments.at(0);
  };
}

/// Each pass is a step.
class PassesBackend : public SimpleBackend {
public:
  PassesBackend(BackendDescription description, std::vector<std::string> passes)
      : SimpleBackend(std::move(description)), passes_(std::move(passes)) {}

  std::vector<std::string> names() const override { return step_names(pipeline()); }

  std::unique_ptr<Backend> with(const std::vector<std::string> &some) const override {
    const auto all = names();
    std::vector<std::string> kept;
    for (size_t i = 0; i < all.size(); ++i)
      if (std::find(some.begin(), some.end(), all[i]) != some.end())
        kept.push_back(passes_[i]);
    return make_pass_backend(kept);
  }

protected:
  Pipeline pipeline() const override {
    Pipeline result;
    for (const auto &name : passes_)
      result.steps.push_back({name.c_str()});
    return result;
  }

private:
  std::vector<std::string> passes_;
};

/// Returns the lines of repro.cpp that run these passes.
BackendSource source_of(const std::vector<std::string> &names) {
  std::string calls;
  std::set<std::string> headers = {"torch/csrc/jit/runtime/interpreter.h"};
  for (const auto &name : names) {
    const JitPass &pass = pass_named(name);
    calls += std::string("  ") + pass.source + "\n";
    headers.insert(std::string("torch/csrc/jit/passes/") + pass.header);
  }
  return {{headers.begin(), headers.end()},
          R"(  // Parameters and buffers become constants of the graph, then the pass runs on it.
  auto graph = module.get_method("forward").graph()->copy();
  for (auto it = graph->nodes().begin(); it != graph->nodes().end();) {
    torch::jit::Node* node = *it++;
    if (node->kind() != torch::jit::prim::GetAttr)
      continue;
    torch::jit::WithInsertPoint guard(node);
    at::Tensor value = module.attr(node->s(torch::jit::attr::name)).toTensor().detach();
    node->output()->replaceAllUsesWith(graph->insertConstant(value));
    node->destroy();
  }
  graph->eraseInput(0);  // self
)" + calls + R"(  torch::jit::Code code(graph, "forward");
  auto call = [code](std::vector<c10::IValue> stack) {
    torch::jit::InterpreterState(code).run(stack);
    return stack.at(0);
  };
)"};
}

/// Nothing where Python cannot run one of them.
std::optional<PythonCall> python_call_of(const std::vector<std::string> &names) {
  PythonCall python;
  python.plain_interpreter = true;
  for (const auto &name : names) {
    const JitPass &pass = pass_named(name);
    if (*pass.python == 0)
      return std::nullopt;
    python.passes.emplace_back(pass.python);
  }
  return python;
}

} // namespace

std::vector<NamedRow> list_passes() {
  std::vector<NamedRow> rows;
  for (const JitPass &pass : passes)
    rows.push_back({pass.name, pass.summary});
  return rows;
}

std::unique_ptr<Backend> make_pass_backend(const std::vector<std::string> &names) {
  const std::string list = joined(names, ",");
  const auto compile = [names](const jit::Module &module) {
    GraphPtr graph = constant_graph(module);
    for (const auto &name : names)
      pass_named(name).run(graph);
    return run_graph(graph);
  };
  BackendDescription description = {.name = "pass:" + list,
                                    .summary = "JIT passes on the flat graph: " + list,
                                    .title = "the JIT pass " + list,
                                    .compile = compile,
                                    .source = source_of(names),
                                    .python = python_call_of(names),
                                    .traits = {.needs_flat_graph = true}};
  return std::make_unique<PassesBackend>(std::move(description), names);
}

} // namespace repro_minify
