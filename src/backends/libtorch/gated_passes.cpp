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
#include <utility>

namespace repro_minify {
namespace {

/// The name under which the dynamic linker knows a function of this program; null where it does not.
const char *exported_name(void *function) {
  Dl_info info;
  return dladdr(function, &info) && info.dli_saddr == function ? info.dli_sname : nullptr;
}

/// LibTorch's definition of a function that this file defines too.
template <typename Function> class Gated;

template <typename Result, typename... Parameters> class Gated<Result(Parameters...)> {
public:
  Gated(const char *name, Result (*ours)(Parameters...)) : name_(name) {
    const char *symbol = exported_name(reinterpret_cast<void *>(ours));
    theirs_ = symbol ? reinterpret_cast<Result (*)(Parameters...)>(dlsym(RTLD_NEXT, symbol)) : nullptr;
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
  Result (*theirs_)(Parameters...);
};

template <typename Result, typename... Parameters>
Gated(const char *, Result (*)(Parameters...)) -> Gated<Result(Parameters...)>;

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

/// Defines the pass NAME as LibTorch declares it; its body hands the arguments, which come last, to the gate.
#define GATED(RESULT, NAME, PARAMETERS, ...)                                                                           \
  RESULT NAME PARAMETERS {                                                                                             \
    static const Gated<RESULT PARAMETERS> pass(#NAME, NAME);                                                           \
    return pass(__VA_ARGS__);                                                                                          \
  }

GATED(bool, PeepholeOptimize, (const GraphPtr &graph, bool disable_shape_peepholes), graph, disable_shape_peepholes)
// Since LibTorch 2.15 three parts of PeepholeOptimize have overloads that take what is known of aliases, and it calls
// those. An older one has none and calls none.
GATED(bool, PeepholeOptimizeListIdioms, (const GraphPtr &graph, bool refine_list_len), graph, refine_list_len)
GATED(bool, PeepholeOptimizeListIdioms, (const GraphPtr &graph, bool refine_list_len, const AliasDb &aliases), graph,
      refine_list_len, aliases)
GATED(bool, PeepholeOptimizeDictIdioms, (const GraphPtr &graph), graph)
GATED(bool, PeepholeOptimizeDictIdioms, (const GraphPtr &graph, const AliasDb &aliases), graph, aliases)
GATED(bool, PeepholeOptimizeAliasSensitive, (const GraphPtr &graph, bool shape_peepholes), graph, shape_peepholes)
GATED(bool, PeepholeOptimizeAliasSensitive, (const GraphPtr &graph, bool shape_peepholes, AliasDb &aliases), graph,
      shape_peepholes, aliases)
GATED(bool, PeepholeOptimizeNonTensor, (const GraphPtr &graph), graph)
GATED(bool, ConstantPropagation, (GraphPtr & graph, bool ignore_custom_classes), graph, ignore_custom_classes)
GATED(bool, ConstantPropagationImmutableTypes, (GraphPtr & graph), graph)
GATED(void, ConstantPooling, (const GraphPtr &graph), graph)
GATED(void, Autocast, (const GraphPtr &graph), graph)
GATED(bool, EliminateCommonSubexpression, (const GraphPtr &graph), graph)
GATED(void, CanonicalizeOps, (const GraphPtr &graph), graph)
GATED(void, DecomposeOps, (GraphPtr & graph), graph)
GATED(void, LowerSimpleTuples, (const GraphPtr &graph), graph)
GATED(void, CheckInplace, (GraphPtr & graph), graph)
GATED(void, specializeAutogradZero, (GraphPtr graph), std::move(graph))
GATED(bool, UnrollLoops, (GraphPtr & graph), graph)
GATED(bool, UnrollConstantLoops, (GraphPtr & graph), graph)
GATED(bool, RemoveListMutation, (const GraphPtr &graph), graph)
GATED(std::vector<Node *>, CreateAutodiffSubgraphs, (const GraphPtr &graph, size_t threshold), graph, threshold)
GATED(void, BatchMM, (GraphPtr & graph), graph)
GATED(void, FuseTensorExprs,
      (GraphPtr & graph, size_t min_group_size, bool add_composed_op, bool fuse_to_dynamic_shapes), graph,
      min_group_size, add_composed_op, fuse_to_dynamic_shapes)
GATED(bool, AddIfThenElseOp, (GraphPtr & graph), graph)
GATED(bool, EliminateNoOps, (GraphPtr & graph, std::unordered_set<c10::Symbol> custom_ops), graph,
      std::move(custom_ops))
GATED(void, removeDropout, (GraphPtr & graph), graph)
GATED(bool, FrozenConcatLinear, (GraphPtr & graph), graph)
GATED(bool, FoldFrozenConvBatchnorm, (GraphPtr & graph), graph)
GATED(bool, FoldFrozenConvAddOrSub, (GraphPtr & graph), graph)
GATED(bool, FoldFrozenConvMulOrDiv, (GraphPtr & graph), graph)
GATED(bool, FoldFrozenLinearBatchnorm, (GraphPtr & graph), graph)
GATED(void, FuseFrozenConvAddRelu, (GraphPtr & graph), graph)
GATED(void, ConvertFrozenOpsToMKLDNN, (GraphPtr & graph), graph)
GATED(bool, FrozenLinearTranspose, (GraphPtr & graph), graph)
GATED(bool, RemoveTensorMutation, (const GraphPtr &graph, std::optional<std::function<bool(Node *)>> filter), graph,
      std::move(filter))
GATED(void, EliminateNoOpSlice, (GraphPtr & graph), graph)
GATED(void, FuseInferenceOpsForSparseNN, (GraphPtr & graph), graph)
GATED(bool, UseVariadicCat, (const GraphPtr &graph), graph)
GATED(bool, UseVariadicStack, (const GraphPtr &graph), graph)
GATED(void, EliminateTrivialEquallySplit, (GraphPtr & graph), graph)
GATED(void, EliminateExtraPermuteOps, (GraphPtr & graph), graph)
GATED(void, RemoveImmutableInputDictLookups, (GraphPtr & graph), graph)
GATED(void, UseVariadicTupleUnpack, (const GraphPtr &graph), graph)
GATED(void, UseVariadicGroupedAccessor, (const GraphPtr &graph), graph)
GATED(void, UseSplitAndSqueeze, (GraphPtr & graph), graph)

#undef GATED

void EliminateDeadCode(const GraphPtr &graph, DCESideEffectPolicy policy) {
  static const Gated<void(const GraphPtr &, DCESideEffectPolicy)> pass("EliminateDeadCode", EliminateDeadCode);
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
