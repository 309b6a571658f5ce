#include "reduce/passes/golden.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *loop_of_two = R"IR(
graph(%x : Tensor):
  %five : int = prim::Constant[value=5]()
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%five, %yes, %x)
    block0(%i : int, %c : Tensor):
      %a : Tensor = aten::relu(%c)
      %b : Tensor = aten::neg(%a)
      -> (%yes, %b)
  return (%y))IR";

TEST(Loops, BecomeTheirFirstIteration) {
  const auto result = run_pass("loops", program_from(loop_of_two, {at::ones({2, 3})}),
                               [](const Program &candidate) { return count(candidate, "aten::neg") > 0; });
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %9 : Tensor = aten::relu(%x)
  %10 : Tensor = aten::neg(%9)
  return (%10)
)IR");
  EXPECT_EQ(result.checks, 1);
}

TEST(Loops, ThatAreNeededAreAskedAboutOnce) {
  const auto result = run_pass("loops", program_from(loop_of_two, {at::ones({2, 3})}),
                               [](const Program &candidate) { return count(candidate, "prim::Loop") > 0; });
  EXPECT_EQ(count(result.reduction.program, "prim::Loop"), 1);
  EXPECT_EQ(result.checks, 1);
}

/// An iteration adds its own number.
bool adds(const Program &candidate, int64_t number) {
  const auto nodes = all_nodes(*candidate.graph);
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto *node) {
    return node->kind() == c10::aten::add && torch::jit::toIValue(node->input(1)) == c10::IValue(number);
  });
}

TEST(Loops, BecomeTheIterationThatMatters) {
  const auto result = run_pass("loops",
                               program_from(R"IR(
graph(%x : Tensor):
  %eight : int = prim::Constant[value=8]()
  %one : int = prim::Constant[value=1]()
  %yes : bool = prim::Constant[value=1]()
  %other : Tensor = prim::Loop(%one, %yes, %x)
    block0(%j : int, %k : Tensor):
      %l : Tensor = aten::sin(%k)
      -> (%yes, %l)
  %y : Tensor = prim::Loop(%eight, %yes, %other)
    block0(%i : int, %c : Tensor):
      %a : Tensor = aten::add(%c, %i, %one)
      -> (%yes, %a)
  return (%y))IR",
                                            {at::ones({2, 3})}),
                               [](const Program &candidate) {
                                 const int loops = count(candidate, "prim::Loop");
                                 return loops == 2 || (loops == 1 && adds(candidate, 5));
                               });
  EXPECT_TRUE(adds(result.reduction.program, 5));
  EXPECT_EQ(count(result.reduction.program, "aten::add"), 1);
  EXPECT_EQ(count(result.reduction.program, "prim::Loop"), 1);
  EXPECT_EQ(result.checks, 9);
}

/// A `while` of which each iteration reads what the condition of the one before was made of.
TEST(Loops, ThatAskBeforeTheyGoOnAreWrittenOut) {
  const auto result = run_pass("loops",
                               program_from(R"IR(
graph(%x : Tensor):
  %most : int = prim::Constant[value=9223372036854775807]()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %three : int = prim::Constant[value=3]()
  %yes : bool = prim::Constant[value=1]()
  %other : Tensor = prim::Loop(%one, %yes, %x)
    block0(%j : int, %k : Tensor):
      %l : Tensor = aten::sin(%k)
      -> (%yes, %l)
  %n : int, %y : Tensor = prim::Loop(%most, %yes, %zero, %other)
    block0(%i : int, %m : int, %c : Tensor):
      %a : Tensor = aten::add(%c, %m, %one)
      %next : int = aten::add(%m, %one)
      %more : bool = aten::lt(%next, %three)
      -> (%more, %next, %a)
  return (%y))IR",
                                            {at::ones({2, 3})}),
                               [](const Program &candidate) {
                                 const int loops = count(candidate, "prim::Loop");
                                 return loops == 2 || (loops == 1 && count(candidate, "aten::sin") == 1 &&
                                                       count(candidate, "aten::add") > 1);
                               });
  EXPECT_EQ(count(result.reduction.program, "prim::Loop"), 1);
}

} // namespace
} // namespace repro_minify
