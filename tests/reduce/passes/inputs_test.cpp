#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <set>

namespace repro_minify {
namespace {

using namespace testing_support;

/// The concatenation of that many inputs of the same kind.
Program concatenation_of(int inputs) {
  std::string parameters, operands;
  for (int i = 0; i < inputs; ++i) {
    parameters += (i ? ", " : "") + ("%x" + std::to_string(i)) + " : Tensor";
    operands += (i ? ", %x" : "%x") + std::to_string(i);
  }
  return program_from("graph(" + parameters + R"IR():
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct()IR" +
                          operands + R"IR()
  %y : Tensor = aten::cat(%list, %zero)
  return (%y))IR",
                      std::vector<at::Tensor>(static_cast<size_t>(inputs), at::ones({2, 3})));
}

/// How many of the values that are concatenated differ.
size_t distinct_parts(const Program &candidate) {
  for (const auto *node : all_nodes(*candidate.graph))
    if (node->kind() == torch::jit::prim::ListConstruct)
      return std::set<const torch::jit::Value *>(node->inputs().begin(), node->inputs().end()).size();
  return 0;
}

TEST(Inputs, AHundredBecomeOneInOneCheck) {
  const auto result = run_pass("inputs", concatenation_of(100), [](const Program &) { return true; });
  EXPECT_EQ(result.reduction.program.inputs.size(), 1);
  EXPECT_EQ(result.checks, 1);
}

TEST(Inputs, TwoThatHaveToDifferAreFoundByHalves) {
  const auto last_differs = [](const Program &candidate) {
    for (const auto *node : all_nodes(*candidate.graph))
      if (node->kind() == torch::jit::prim::ListConstruct)
        return node->input(99) != node->input(0);
    return false;
  };
  const auto result = run_pass("inputs", concatenation_of(100), last_differs);
  EXPECT_EQ(result.reduction.program.inputs.size(), 2);
  EXPECT_EQ(result.checks, 8);
}

TEST(Inputs, ThreeThatHaveToDiffer) {
  const auto result =
      run_pass("inputs", concatenation_of(12), [](const Program &candidate) { return distinct_parts(candidate) >= 3; });
  EXPECT_EQ(result.reduction.program.inputs.size(), 3);
  EXPECT_EQ(result.checks, 8); // the first into a later one, too
}

} // namespace
} // namespace repro_minify
