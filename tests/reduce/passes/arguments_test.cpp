#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *program = R"IR(
graph(%x : Tensor, %w : Tensor, %b : Tensor):
  %slope : float = prim::Constant[value=0.37]()
  %alpha : float = prim::Constant[value=3.5]()
  %y : Tensor = aten::linear(%x, %w, %b)
  %z : Tensor = aten::leaky_relu(%y, %slope)
  %u : Tensor = aten::add(%z, %x, %alpha)
  return (%u))IR";

Program to_simplify() {
  return program_from(program, {at::ones({1, 1}), at::ones({1, 1}), at::ones({1})});
}

TEST(Arguments, DefaultsAndNoneAtOnce) {
  const auto result = run_pass("arguments", to_simplify(), [](const Program &) { return true; });
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor,
      %w : Tensor):
  %8 : NoneType = prim::Constant()
  %5 : Tensor = aten::linear(%x, %w, %8)
  %9 : float = prim::Constant[value=0.01]()
  %6 : Tensor = aten::leaky_relu(%5, %9)
  %10 : int = prim::Constant[value=1]()
  %7 : Tensor = aten::add(%6, %x, %10)
  return (%7)
)IR");
  EXPECT_EQ(result.checks, 1);
}

TEST(Arguments, ANumberThatCannotBeTheDefaultBecomesASimpleOne) {
  const auto slope = [](const Program &candidate) {
    for (auto *node : all_nodes(*candidate.graph))
      if (node->kind() == c10::Symbol::fromQualString("aten::leaky_relu"))
        return torch::jit::toIValue(node->input(1))->toDouble();
    return 0.0;
  };
  const auto result =
      run_pass("arguments", to_simplify(), [slope](const Program &candidate) { return slope(candidate) > 0.3; });
  EXPECT_EQ(slope(result.reduction.program), 1);
  EXPECT_EQ(count(result.reduction.program, "aten::leaky_relu"), 1);
  EXPECT_EQ(result.checks, 5);
}

} // namespace
} // namespace repro_minify
