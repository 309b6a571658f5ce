#include "backends/libtorch/pipelines.h"

#include <torch/csrc/jit/passes/autocast.h>

#include <cstdlib>
#include <set>

namespace repro_minify {
namespace {

/// Passes that end with dead code elimination of their own: it removes what they have nothing to do with.
const std::set<std::string> with_dead_code_elimination = {
    "BatchMM",         "CanonicalizeOps",   "ConstantPropagation", "ConstantPropagationImmutableTypes",
    "FuseTensorExprs", "LowerSimpleTuples", "UnrollLoops"};

void append(Pipeline &pipeline, int phase, std::initializer_list<const char *> functions) {
  for (const char *function : functions) {
    pipeline.steps.push_back({function, phase});
    if (with_dead_code_elimination.count(function))
      pipeline.steps.push_back({"EliminateDeadCode", phase, /*inside=*/true});
  }
}

void append_peephole(Pipeline &pipeline, int phase) {
  pipeline.steps.push_back({"PeepholeOptimize", phase});
  for (const char *function : {"PeepholeOptimizeListIdioms", "PeepholeOptimizeDictIdioms",
                               "PeepholeOptimizeAliasSensitive", "PeepholeOptimizeNonTensor"})
    pipeline.steps.push_back({function, phase, /*inside=*/true});
}

/// preoptimizeGraph: once for each function, before its executor sees it.
void append_preoptimization(Pipeline &pipeline) {
  append_peephole(pipeline, 0);
  append(pipeline, 0, {"ConstantPropagationImmutableTypes", "Autocast", "ConstantPooling"});
}

/// runProfilingInsensitiveOptimizations.
void append_before_profiling(Pipeline &pipeline) {
  append(pipeline, 1,
         {"CanonicalizeOps", "EliminateDeadCode", "DecomposeOps", "ConstantPropagation", "EliminateDeadCode",
          "EliminateCommonSubexpression", "ConstantPooling"});
  append_peephole(pipeline, 1);
  append(pipeline, 1, {"EliminateDeadCode", "LowerSimpleTuples", "CheckInplace"});
}

/// runProfilingOptimizations and runFinalOptimizations. A program that needs gradients takes CreateAutodiffSubgraphs
/// and the rest of symbolic autodiff; other programs, and the forward graphs inside it, take the steps after that one.
void append_after_profiling(Pipeline &pipeline) {
  append(pipeline, 2, {"specializeAutogradZero", "CanonicalizeOps", "EliminateDeadCode"});
  append_peephole(pipeline, 2);
  append(pipeline, 2, {"ConstantPropagation", "EliminateDeadCode", "EliminateCommonSubexpression"});
  append_peephole(pipeline, 2);
  append(pipeline, 2, {"ConstantPropagation", "ConstantPooling", "UnrollLoops", "RemoveListMutation"});
  append_peephole(pipeline, 2);
  append(pipeline, 2,
         {"ConstantPropagation", "EliminateCommonSubexpression", "CheckInplace", "CreateAutodiffSubgraphs",
          "LowerSimpleTuples", "BatchMM", "FuseTensorExprs", "EliminateDeadCode", "AddIfThenElseOp"});
}

/// freeze_module; steps are repeated only where a loop was unrolled.
void append_freeze_module(Pipeline &pipeline) {
  append(pipeline, 0, {"FreezeModule", "Autocast", "EliminateDeadCode", "EliminateCommonSubexpression"});
  append_peephole(pipeline, 0);
  append(pipeline, 0, {"ConstantPropagation", "ConstantPooling", "UnrollConstantLoops", "RemoveListMutation"});
  append_peephole(pipeline, 0);
  append(
      pipeline, 0,
      {"ConstantPropagation", "EliminateCommonSubexpression", "CheckInplace", "EliminateNoOps", "LowerSimpleTuples"});
}

} // namespace

Pipeline executor_pipeline() {
  Pipeline pipeline;
  append_preoptimization(pipeline);
  append_before_profiling(pipeline);
  append_after_profiling(pipeline);
  pipeline.marks = {{"Inline", PhaseMark::Begin, 0},
                    {"ClearProfilingInformation", PhaseMark::Begin, 1},
                    {"instrumentGraph", PhaseMark::End},
                    {"removeProfileCounter", PhaseMark::Begin, 2}};
  return pipeline;
}

std::vector<std::pair<std::string, void (*)()>> executor_switches() {
  return {{"Autocast", [] { torch::jit::setAutocastMode(false); }},
          // LibTorch reads it once, when the fuser first asks; each check has a process of its own.
          {"FuseTensorExprs", [] { setenv("PYTORCH_JIT_OPT_LIMIT", "tensorexpr_fuser=0", 1); }}};
}

Pipeline freeze_pipeline() {
  Pipeline pipeline;
  append_freeze_module(pipeline);
  append(pipeline, 0,
         {"removeDropout", "FrozenConcatLinear", "FoldFrozenConvBatchnorm", "FoldFrozenConvAddOrSub",
          "FoldFrozenConvMulOrDiv", "FoldFrozenLinearBatchnorm"});
  pipeline.marks = {{"Inline", PhaseMark::Begin, 0}, {"ClearProfilingInformation", PhaseMark::Begin, 0}};
  return pipeline;
}

Pipeline optimize_for_inference_pipeline() {
  Pipeline pipeline = freeze_pipeline();
  append(pipeline, 0, {"FuseFrozenConvAddRelu", "ConvertFrozenOpsToMKLDNN", "FrozenLinearTranspose"});
  return pipeline;
}

Pipeline static_runtime_pipeline() {
  Pipeline pipeline;
  append_freeze_module(pipeline);
  append(pipeline, 1,
         {"StaticRuntime", "ConstantPropagation", "ConstantPropagation", "RemoveTensorMutation", "ConstantPropagation",
          "EliminateNoOpSlice", "EliminateDeadCode"});
  append(pipeline, 1,
         {"FuseInferenceOpsForSparseNN", "UseVariadicCat", "UseVariadicStack", "EliminateTrivialEquallySplit",
          "EliminateExtraPermuteOps", "ConstantPropagation"});
  append(pipeline, 1,
         {"RemoveImmutableInputDictLookups", "UseVariadicTupleUnpack", "UseVariadicGroupedAccessor", "EliminateNoOps",
          "AddIfThenElseOp", "UseSplitAndSqueeze", "OutVariants", "OptimizeMemory"});
  // Freezing and StaticModule both call Inline first; only freezing then calls ClearProfilingInformation, which shows
  // that phase 0 is meant.
  pipeline.marks = {{"Inline", PhaseMark::Begin, 1}, {"ClearProfilingInformation", PhaseMark::Begin, 0}};
  return pipeline;
}

} // namespace repro_minify
