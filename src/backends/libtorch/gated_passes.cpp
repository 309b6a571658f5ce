// LibTorch's passes as it calls them itself. A definition in the program comes before that of a shared library; each of
// these asks the gate, then calls LibTorch's own. Without a PassGate they change nothing.
#include "backends/libtorch/pass_gate.h"

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/add_if_then_else.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/passes/batch_mm.h>
#include <torch/csrc/jit/passes/canonicalize_graph_fuser_ops.h>
#include <torch/csrc/jit/passes/clear_profiling.h>
#include <torch/csrc/jit/passes/common_subexpression_elimination.h>
#include <torch/csrc/jit/passes/constant_pooling.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/create_autodiff_subgraphs.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/decompose_ops.h>
#include <torch/csrc/jit/passes/eliminate_no_ops.h>
#include <torch/csrc/jit/passes/frozen_concat_linear.h>
#include <torch/csrc/jit/passes/frozen_conv_add_relu_fusion.h>
#include <torch/csrc/jit/passes/frozen_conv_folding.h>
#include <torch/csrc/jit/passes/frozen_linear_folding.h>
#include <torch/csrc/jit/passes/frozen_linear_transpose.h>
#include <torch/csrc/jit/passes/frozen_ops_to_mkldnn.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/inplace_check.h>
#include <torch/csrc/jit/passes/loop_unrolling.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/peephole_alias_sensitive.h>
#include <torch/csrc/jit/passes/peephole_dict_idioms.h>
#include <torch/csrc/jit/passes/peephole_list_idioms.h>
#include <torch/csrc/jit/passes/peephole_non_tensor.h>
#include <torch/csrc/jit/passes/remove_dropout.h>
#include <torch/csrc/jit/passes/remove_mutation.h>
#include <torch/csrc/jit/passes/specialize_autogradzero.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/passes/variadic_ops.h>
#include <torch/csrc/jit/runtime/profiling_record.h>
#include <torch/csrc/jit/runtime/static/passes.h>

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace repro_minify {
namespace {

/// The name under which the dynamic linker knows a function of this program; null where it does not.
const char *exported_name(void *function) {
  Dl_info info;
  return dladdr(function, &info) && info.dli_saddr == function ? info.dli_sname : nullptr;
}

/// LibTorch's definition of a function that this file defines too.
template <typename Result, typename... Parameters> class Gated {
public:
  using Function = Result (*)(Parameters...);

  Gated(const char *name, Result (*ours)(Parameters...)) : name_(name) {
    const char *symbol = exported_name(reinterpret_cast<void *>(ours));
    theirs_ = symbol ? reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol)) : nullptr;
    if (!theirs_)
      throw std::runtime_error(std::string("LibTorch has no ") + name);
  }

  /// A pass that is left out has changed nothing, and says so: false, or nothing found.
  Result operator()(Parameters... arguments) const {
    const PassCall call(name_);
    if (call.runs())
      return theirs_(std::forward<Parameters>(arguments)...);
    return Result();
  }

  /// Runs the pass if the gate lets it; true if it ran.
  bool let(Parameters... arguments) const {
    const PassCall call(name_);
    if (call.runs())
      theirs_(std::forward<Parameters>(arguments)...);
    return call.runs();
  }

  /// One that always runs, and is there to be noticed.
  Result notice(Parameters... arguments) const {
    const PassCall call(name_);
    return theirs_(std::forward<Parameters>(arguments)...);
  }

private:
  const char *name_;
  Function theirs_;
};

/// freeze_module leaves reads of attributes without an operand behind, for dead code elimination to take away; nothing
/// that comes after it can live with them.
void remove_folded_attribute_reads(torch::jit::Block *block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (auto *inner : it->blocks())
      remove_folded_attribute_reads(inner);
    if (it->kind() == torch::jit::prim::GetAttr && it->inputs().empty() && !it->hasUses())
      it.destroyCurrent();
  }
}

} // namespace

bool passes_can_be_gated() {
  // The other way round: does the name lead every library here?
  void *ours = reinterpret_cast<void *>(&torch::jit::ConstantPooling);
  const char *symbol = exported_name(ours);
  return symbol && dlsym(RTLD_DEFAULT, symbol) == ours && dlsym(RTLD_NEXT, symbol) != nullptr;
}

} // namespace repro_minify

// NOLINTBEGIN(readability-identifier-naming)
namespace torch::jit {

using repro_minify::Gated;
using GraphPtr = std::shared_ptr<Graph>;

bool PeepholeOptimize(const GraphPtr &graph, bool disable_shape_peepholes) {
  static const Gated<bool, const GraphPtr &, bool> pass("PeepholeOptimize", PeepholeOptimize);
  return pass(graph, disable_shape_peepholes);
}

// Since LibTorch 2.15 three parts of PeepholeOptimize have overloads that take what is known of aliases, and it calls
// those. An older one has none and calls none.

bool PeepholeOptimizeListIdioms(const GraphPtr &graph, bool refine_list_len) {
  static const Gated<bool, const GraphPtr &, bool> pass("PeepholeOptimizeListIdioms", PeepholeOptimizeListIdioms);
  return pass(graph, refine_list_len);
}

bool PeepholeOptimizeListIdioms(const GraphPtr &graph, bool refine_list_len, const AliasDb &aliases) {
  static const Gated<bool, const GraphPtr &, bool, const AliasDb &> pass("PeepholeOptimizeListIdioms",
                                                                         PeepholeOptimizeListIdioms);
  return pass(graph, refine_list_len, aliases);
}

bool PeepholeOptimizeDictIdioms(const GraphPtr &graph) {
  static const Gated<bool, const GraphPtr &> pass("PeepholeOptimizeDictIdioms", PeepholeOptimizeDictIdioms);
  return pass(graph);
}

bool PeepholeOptimizeDictIdioms(const GraphPtr &graph, const AliasDb &aliases) {
  static const Gated<bool, const GraphPtr &, const AliasDb &> pass("PeepholeOptimizeDictIdioms",
                                                                   PeepholeOptimizeDictIdioms);
  return pass(graph, aliases);
}

bool PeepholeOptimizeAliasSensitive(const GraphPtr &graph, bool shape_peepholes) {
  static const Gated<bool, const GraphPtr &, bool> pass("PeepholeOptimizeAliasSensitive",
                                                        PeepholeOptimizeAliasSensitive);
  return pass(graph, shape_peepholes);
}

bool PeepholeOptimizeAliasSensitive(const GraphPtr &graph, bool shape_peepholes, AliasDb &aliases) {
  static const Gated<bool, const GraphPtr &, bool, AliasDb &> pass("PeepholeOptimizeAliasSensitive",
                                                                   PeepholeOptimizeAliasSensitive);
  return pass(graph, shape_peepholes, aliases);
}

bool PeepholeOptimizeNonTensor(const GraphPtr &graph) {
  static const Gated pass("PeepholeOptimizeNonTensor", PeepholeOptimizeNonTensor);
  return pass(graph);
}

bool ConstantPropagation(GraphPtr &graph, bool ignore_custom_classes) {
  static const Gated pass("ConstantPropagation", ConstantPropagation);
  return pass(graph, ignore_custom_classes);
}

bool ConstantPropagationImmutableTypes(GraphPtr &graph) {
  static const Gated pass("ConstantPropagationImmutableTypes", ConstantPropagationImmutableTypes);
  return pass(graph);
}

void ConstantPooling(const GraphPtr &graph) {
  static const Gated pass("ConstantPooling", ConstantPooling);
  return pass(graph);
}

void Autocast(const GraphPtr &graph) {
  static const Gated pass("Autocast", Autocast);
  return pass(graph);
}

bool EliminateCommonSubexpression(const GraphPtr &graph) {
  static const Gated pass("EliminateCommonSubexpression", EliminateCommonSubexpression);
  return pass(graph);
}

void CanonicalizeOps(const GraphPtr &graph) {
  static const Gated pass("CanonicalizeOps", CanonicalizeOps);
  return pass(graph);
}

void DecomposeOps(GraphPtr &graph) {
  static const Gated pass("DecomposeOps", DecomposeOps);
  return pass(graph);
}

void LowerSimpleTuples(const GraphPtr &graph) {
  static const Gated<void, const GraphPtr &> pass("LowerSimpleTuples", LowerSimpleTuples);
  return pass(graph);
}

void CheckInplace(GraphPtr &graph) {
  static const Gated pass("CheckInplace", CheckInplace);
  return pass(graph);
}

void specializeAutogradZero(GraphPtr graph) {
  static const Gated pass("specializeAutogradZero", specializeAutogradZero);
  return pass(std::move(graph));
}

bool UnrollLoops(GraphPtr &graph) {
  static const Gated pass("UnrollLoops", UnrollLoops);
  return pass(graph);
}

bool UnrollConstantLoops(GraphPtr &graph) {
  static const Gated pass("UnrollConstantLoops", UnrollConstantLoops);
  return pass(graph);
}

bool RemoveListMutation(const GraphPtr &graph) {
  static const Gated pass("RemoveListMutation", RemoveListMutation);
  return pass(graph);
}

std::vector<Node *> CreateAutodiffSubgraphs(const GraphPtr &graph, size_t threshold) {
  static const Gated pass("CreateAutodiffSubgraphs", CreateAutodiffSubgraphs);
  return pass(graph, threshold);
}

void BatchMM(GraphPtr &graph) {
  static const Gated pass("BatchMM", BatchMM);
  return pass(graph);
}

void FuseTensorExprs(GraphPtr &graph, size_t min_group_size, bool add_composed_op, bool fuse_to_dynamic_shapes) {
  static const Gated pass("FuseTensorExprs", FuseTensorExprs);
  return pass(graph, min_group_size, add_composed_op, fuse_to_dynamic_shapes);
}

bool AddIfThenElseOp(GraphPtr &graph) {
  static const Gated pass("AddIfThenElseOp", AddIfThenElseOp);
  return pass(graph);
}

bool EliminateNoOps(GraphPtr &graph, std::unordered_set<c10::Symbol> custom_ops) {
  static const Gated pass("EliminateNoOps", EliminateNoOps);
  return pass(graph, std::move(custom_ops));
}

void removeDropout(GraphPtr &graph) {
  static const Gated<void, GraphPtr &> pass("removeDropout", removeDropout);
  return pass(graph);
}

bool FrozenConcatLinear(GraphPtr &graph) {
  static const Gated pass("FrozenConcatLinear", FrozenConcatLinear);
  return pass(graph);
}

bool FoldFrozenConvBatchnorm(GraphPtr &graph) {
  static const Gated pass("FoldFrozenConvBatchnorm", FoldFrozenConvBatchnorm);
  return pass(graph);
}

bool FoldFrozenConvAddOrSub(GraphPtr &graph) {
  static const Gated pass("FoldFrozenConvAddOrSub", FoldFrozenConvAddOrSub);
  return pass(graph);
}

bool FoldFrozenConvMulOrDiv(GraphPtr &graph) {
  static const Gated pass("FoldFrozenConvMulOrDiv", FoldFrozenConvMulOrDiv);
  return pass(graph);
}

bool FoldFrozenLinearBatchnorm(GraphPtr &graph) {
  static const Gated pass("FoldFrozenLinearBatchnorm", FoldFrozenLinearBatchnorm);
  return pass(graph);
}

void FuseFrozenConvAddRelu(GraphPtr &graph) {
  static const Gated pass("FuseFrozenConvAddRelu", FuseFrozenConvAddRelu);
  return pass(graph);
}

void ConvertFrozenOpsToMKLDNN(GraphPtr &graph) {
  static const Gated pass("ConvertFrozenOpsToMKLDNN", ConvertFrozenOpsToMKLDNN);
  return pass(graph);
}

bool FrozenLinearTranspose(GraphPtr &graph) {
  static const Gated pass("FrozenLinearTranspose", FrozenLinearTranspose);
  return pass(graph);
}

bool RemoveTensorMutation(const GraphPtr &graph, std::optional<std::function<bool(Node *)>> filter) {
  static const Gated pass("RemoveTensorMutation", RemoveTensorMutation);
  return pass(graph, std::move(filter));
}

void EliminateNoOpSlice(GraphPtr &graph) {
  static const Gated pass("EliminateNoOpSlice", EliminateNoOpSlice);
  return pass(graph);
}

void FuseInferenceOpsForSparseNN(GraphPtr &graph) {
  static const Gated pass("FuseInferenceOpsForSparseNN", FuseInferenceOpsForSparseNN);
  return pass(graph);
}

bool UseVariadicCat(const GraphPtr &graph) {
  static const Gated pass("UseVariadicCat", UseVariadicCat);
  return pass(graph);
}

bool UseVariadicStack(const GraphPtr &graph) {
  static const Gated pass("UseVariadicStack", UseVariadicStack);
  return pass(graph);
}

void EliminateTrivialEquallySplit(GraphPtr &graph) {
  static const Gated pass("EliminateTrivialEquallySplit", EliminateTrivialEquallySplit);
  return pass(graph);
}

void EliminateExtraPermuteOps(GraphPtr &graph) {
  static const Gated pass("EliminateExtraPermuteOps", EliminateExtraPermuteOps);
  return pass(graph);
}

void RemoveImmutableInputDictLookups(GraphPtr &graph) {
  static const Gated pass("RemoveImmutableInputDictLookups", RemoveImmutableInputDictLookups);
  return pass(graph);
}

void UseVariadicTupleUnpack(const GraphPtr &graph) {
  static const Gated pass("UseVariadicTupleUnpack", UseVariadicTupleUnpack);
  return pass(graph);
}

void UseVariadicGroupedAccessor(const GraphPtr &graph) {
  static const Gated pass("UseVariadicGroupedAccessor", UseVariadicGroupedAccessor);
  return pass(graph);
}

void UseSplitAndSqueeze(GraphPtr &graph) {
  static const Gated pass("UseSplitAndSqueeze", UseSplitAndSqueeze);
  return pass(graph);
}

void EliminateDeadCode(const GraphPtr &graph, DCESideEffectPolicy policy) {
  static const Gated<void, const GraphPtr &, DCESideEffectPolicy> pass("EliminateDeadCode", EliminateDeadCode);
  if (!pass.let(graph, policy))
    repro_minify::remove_folded_attribute_reads(graph->block());
}

// How far a pipeline is.

void Inline(Graph &graph) {
  static const Gated pass("Inline", Inline);
  pass.notice(graph);
}

void ClearProfilingInformation(const GraphPtr &graph) {
  static const Gated pass("ClearProfilingInformation", ClearProfilingInformation);
  pass.notice(graph);
}

std::unique_ptr<ProfilingRecord> ProfilingRecord::instrumentGraph(const GraphPtr &graph) {
  static const Gated pass("instrumentGraph", instrumentGraph);
  return pass.notice(graph);
}

void ProfilingRecord::removeProfileCounter(Block *block) {
  static const Gated pass("removeProfileCounter", removeProfileCounter);
  pass.notice(block);
}

} // namespace torch::jit
// NOLINTEND(readability-identifier-naming)
