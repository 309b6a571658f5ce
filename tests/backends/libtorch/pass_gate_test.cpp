// The pipelines are what LibTorch really runs: every pass it calls is where the table has it, in that order.
#include "backends/libtorch/pipelines.h"
#include "check/run_program.h"
#include "program/compute.h"
#include "program/fixture.h"
#include "repro_minify/backend.h"
#include "repro_minify/check.h"
#include "repro_minify/run_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace repro_minify {
namespace {

struct Called {
  std::vector<std::string> reached, unexpected;
};

c10::IValue text_of(const std::vector<std::string> &lines) {
  c10::List<std::string> list;
  for (const auto &line : lines)
    list.push_back(line);
  return list;
}

std::vector<std::string> lines_of(const c10::IValue &value) {
  std::vector<std::string> lines;
  for (const auto &line : value.toListRef())
    lines.push_back(line.toStringRef());
  return lines;
}

/// Three calls of a case's model under a backend, with only those steps.
Called call(const std::string &name, const std::string &backend, bool grad, const Pipeline &pipeline,
            const std::vector<std::string> &steps) {
  const auto loaded = testing_support::load_case(name);
  const Program program = flatten_calls(loaded.model, loaded.inputs.values);
  const auto answer = compute_in_child(
      [&](Child &) -> c10::IValue {
        const Instance instance = instantiate(program, {.requires_grad = grad});
        PassGate gate(pipeline, steps);
        try {
          const Compiled compiled = make_backend(backend)->compile(instance.module);
          for (int i = 0; i < 3; ++i)
            run_program(compiled, instance, {.grad = grad});
        } catch (const std::exception &) {
          // Some of the cases raise: what was called until then counts.
        }
        return c10::ivalue::Tuple::create(text_of(gate.reached()), text_of(gate.unexpected()));
      },
      testing_support::test_limits());
  const auto &parts = answer.toTupleRef().elements();
  return {lines_of(parts[0]), lines_of(parts[1])};
}

int place(const std::vector<std::string> &names, const std::string &name) {
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// How often the order goes back: each time, what was called is not where the table says, or a pipeline starts again.
int times_back(const std::vector<std::string> &names, const std::vector<std::string> &reached) {
  int back = 0;
  for (size_t i = 1; i < reached.size(); ++i)
    back += place(names, reached[i]) < place(names, reached[i - 1]);
  return back;
}

std::string listed(const std::vector<std::string> &lines) {
  std::ostringstream text;
  for (const auto &line : lines)
    text << line << '\n';
  return text.str();
}

void expect_in_order(const std::string &name, const std::string &backend, bool grad, const Pipeline &pipeline,
                     int starts, const std::string &last) {
  const auto names = step_names(pipeline);
  const Called called = call(name, backend, grad, pipeline, names);
  EXPECT_TRUE(called.unexpected.empty()) << listed(called.unexpected);
  ASSERT_FALSE(called.reached.empty());
  EXPECT_EQ(times_back(names, called.reached), starts - 1) << listed(called.reached);
  EXPECT_NE(std::find(called.reached.begin(), called.reached.end(), last), called.reached.end())
      << listed(called.reached);
}

TEST(PassGate, StandsBeforeLibTorchsPasses) {
  EXPECT_TRUE(passes_can_be_gated());
}

TEST(PassGate, NamesEachStepOnce) {
  for (const auto &pipeline :
       {executor_pipeline(), freeze_pipeline(), optimize_for_inference_pipeline(), static_runtime_pipeline()}) {
    auto names = step_names(pipeline);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  }
  const auto names = step_names(executor_pipeline());
  EXPECT_EQ(names[0], "PeepholeOptimize");
  EXPECT_EQ(names[1], "PeepholeOptimize/ListIdioms");
}

TEST(PassGate, ExecutorRunsWhatTheTableSays) {
  expect_in_order("jit_einsum_view_alias", "jit", false, executor_pipeline(), 1, "AddIfThenElseOp");
}

TEST(PassGate, FreezeRunsWhatTheTableSays) {
  expect_in_order("freeze_conv_mul_double_dtype", "freeze", false, freeze_pipeline(), 2, "FoldFrozenLinearBatchnorm");
}

TEST(PassGate, OptimizeForInferenceRunsWhatTheTableSays) {
  // The case fails in that step: nothing comes after it.
  expect_in_order("ofi_clamp_min_assert", "optimize-for-inference", false, optimize_for_inference_pipeline(), 1,
                  "ConvertFrozenOpsToMKLDNN");
}

TEST(PassGate, StaticRuntimeRunsWhatTheTableSays) {
  expect_in_order("static_detach_metadata", "static-runtime", false, static_runtime_pipeline(), 1,
                  "UseSplitAndSqueeze");
}

TEST(PassGate, FollowsTheExecutorsOfAutodiffToo) {
  // The program's own, that of the forward half, that of the backward half: each starts at the table's phase 1.
  const auto names = step_names(executor_pipeline());
  const Called called = call("grad_82635_min_tie", "jit", true, executor_pipeline(), names);
  EXPECT_GE(times_back(names, called.reached), 2) << listed(called.reached);
  // Differentiation itself tidies up: torch/csrc/jit/runtime/autodiff.cpp calls these, wherever the pipeline is.
  for (const auto &pass : called.unexpected)
    EXPECT_TRUE(pass == "EliminateCommonSubexpression" || pass == "EliminateDeadCode") << pass;
  EXPECT_NE(std::find(called.reached.begin(), called.reached.end(), "CreateAutodiffSubgraphs"), called.reached.end())
      << listed(called.reached);
}

/// Passes that another pass calls are reached where that one runs.
TEST(PassGate, LeavesOutWhatIsNotNamed) {
  const auto parts_of_passes = [](const Called &called) {
    return std::count_if(called.reached.begin(), called.reached.end(),
                         [](const std::string &name) { return name.find('/') != std::string::npos; });
  };
  const Called called = call("jit_einsum_view_alias", "jit", false, executor_pipeline(), {"ConstantPooling"});
  EXPECT_TRUE(called.unexpected.empty()) << listed(called.unexpected);
  EXPECT_NE(std::find(called.reached.begin(), called.reached.end(), "ConstantPooling"), called.reached.end());
  EXPECT_EQ(parts_of_passes(called), 0) << listed(called.reached);
  const Called whole =
      call("jit_einsum_view_alias", "jit", false, executor_pipeline(), step_names(executor_pipeline()));
  EXPECT_GT(parts_of_passes(whole), 0) << listed(whole.reached);
}

} // namespace
} // namespace repro_minify
