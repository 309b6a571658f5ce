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

/// A reader knows 2147483647, and not 2147483600.
TEST(Arguments, ALargeNumberBecomesTheEndOfAType) {
  const Program start = program_from(R"IR(
graph(%x : Tensor):
  %large : int = prim::Constant[value=2147483600]()
  %one : int = prim::Constant[value=1]()
  %z : Tensor = aten::add(%x, %large, %one)
  return (%z))IR",
                                     {at::ones({1}, at::kInt)});
  const auto result = run_pass("arguments", start, [](const Program &candidate) {
    for (const auto *node : candidate.graph->nodes())
      if (node->kind() == torch::jit::aten::add)
        return torch::jit::constant_as<int64_t>(node->input(1)).value_or(0) > 2147483000;
    return false;
  });
  EXPECT_NE(result.graph.find("value=2147483647"), std::string::npos) << result.graph;
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

/// A list that is no longer read goes: the places of the other arguments were found before.
TEST(Arguments, AreThoseThatWereFoundWhateverWentBefore) {
  const Program start = program_from(R"IR(
graph(%x : Tensor, %w : Tensor):
  %slope : float = prim::Constant[value=0.37]()
  %alpha : float = prim::Constant[value=3.5]()
  %none : NoneType = prim::Constant()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %stride : int[] = prim::ListConstruct(%two)
  %padding : int[] = prim::ListConstruct(%zero)
  %dilation : int[] = prim::ListConstruct(%one)
  %y : Tensor = aten::conv1d(%x, %w, %none, %stride, %padding, %dilation, %one)
  %z : Tensor = aten::leaky_relu(%y, %slope)
  %u : Tensor = aten::add(%z, %z, %alpha)
  return (%u))IR",
                                     {at::ones({1, 1, 3}), at::ones({1, 1, 1})});
  const auto has_its_slope = [](const Program &candidate) {
    return candidate.graph->toString().find("0.37") != std::string::npos;
  };
  const auto result = run_pass("arguments", start, has_its_slope);
  EXPECT_EQ(result.graph.find("3.5"), std::string::npos) << result.graph;
  EXPECT_EQ(result.graph.find("value=2"), std::string::npos) << result.graph;
  EXPECT_EQ(result.checks, 8);
}

} // namespace
} // namespace repro_minify
