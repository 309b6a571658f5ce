#include "reduce/passes/golden.h"

#include "reduce/passes/erf_error.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

TEST(Cut, LeavesTheOneOperatorThatMatters) {
  const Program program = program_from(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::sin(%a)
  %c : Tensor = aten::neg(%b)
  %d : Tensor = aten::cos(%c)
  return (%d))IR",
                                       {at::ones({2, 3})});
  const auto result =
      run_pass("cut", program, [](const Program &candidate) { return count(candidate, "aten::neg") > 0; });
  EXPECT_EQ(result.graph, R"IR(graph(%sin : Tensor):
  %1 : Tensor = aten::neg(%sin)
  return (%1)
)IR");
  EXPECT_EQ(result.checks, 4);
}

/// A path that nothing can shorten: put off first, but gone through with in the end.
TEST(Cut, TriesEveryNodeWhenNoOtherPassHelps) {
  std::string text = "graph(%x : Tensor):\n";
  for (int i = 0; i < 40; ++i)
    text +=
        "  %v" + std::to_string(i) + " : Tensor = aten::neg(" + (i == 0 ? "%x" : "%v" + std::to_string(i - 1)) + ")\n";
  Program program = program_from(text + "  return (%v39)", {at::ones({1})});
  program.inputs[0].formula = {.kind = Formula::Kind::Ones}; // nothing about the data could be simpler
  const auto whole = [](const Program &candidate) { return count(candidate, "aten::neg") == 40; };
  ReduceOptions options;
  options.limits.timeout = std::chrono::minutes(1);
  const Reduction reduction = reduce_structurally(program, whole, options);
  EXPECT_EQ(size_of(reduction.program).operators, 40);
  EXPECT_TRUE(reduction.one_minimal);
  EXPECT_EQ(reduction.checks, 67);
}

TEST(Cut, WhatWasReadInsideALoopIsSeenInTheLoopsResults) {
  const Program program = program_from(R"IR(
graph(%x : Tensor, %z : Tensor):
  %two : int = prim::Constant[value=2]()
  %yes : bool = prim::Constant[value=1]()
  %no : bool = prim::Constant[value=0]()
  %y : Tensor = prim::Loop(%two, %yes, %x)
    block0(%i : int, %c : Tensor):
      %a : Tensor = aten::relu(%c)
      %d : Tensor = aten::copy_(%z, %a, %no)
      -> (%yes, %a)
  return (%z))IR",
                                       {at::ones({2, 3}), at::ones({2, 3})});
  const auto result = run_pass("cut", program, [](const Program &candidate) {
    return count(candidate, "aten::relu") > 0 && !candidate.graph->outputs().empty();
  });
  EXPECT_EQ(count(result.reduction.program, "aten::copy_"), 0);
  ASSERT_EQ(result.reduction.program.graph->outputs().size(), 1);
  EXPECT_EQ(result.reduction.program.graph->outputs()[0]->node()->kind(), torch::jit::prim::Loop);
}

/// A loop that makes large values in its last iteration only.
const char *const growing = R"IR(
graph(%x : Tensor):
  %ten : int = prim::Constant[value=10]()
  %trips : int = prim::Constant[value=6]()
  %yes : bool = prim::Constant[value=1]()
  %h : Tensor, %s : Tensor = prim::Loop(%trips, %yes, %x, %x)
    block0(%i : int, %b : Tensor, %c : Tensor):
      %d : Tensor = aten::mul(%b, %ten)
      %e : Tensor = aten::log1p(%d)
      -> (%yes, %d, %e)
  return (%s))IR";

/// A loop whose logarithm gets above ten: that of a million does, that of ten does not.
bool has_a_large_logarithm_in_a_loop(const Program &program) {
  if (count(program, "prim::Loop") == 0 || count(program, "aten::log1p") == 0)
    return false;
  for (const auto &output : outputs_of(program, false))
    if (output.toTensor().max().item<float>() > 10)
      return true;
  return false;
}

TEST(Cut, BringsBackWhatALoopMadeTheLastTime) {
  const auto result = run_pass("cut", program_from(growing, {at::ones({2, 3})}), has_a_large_logarithm_in_a_loop);
  EXPECT_EQ(count(result.reduction.program, "aten::mul"), 0);
  EXPECT_EQ(size_of(result.reduction.program).operators, 2); // with the first time's alone, 3
  EXPECT_EQ(result.checks, 6);
}

TEST(Cut, AsksNothingMoreWhereALoopDoesTheSameEveryTime) {
  const auto result = run_pass("cut",
                               program_from(R"IR(
graph(%x : Tensor):
  %trips : int = prim::Constant[value=6]()
  %yes : bool = prim::Constant[value=1]()
  %h : Tensor = prim::Loop(%trips, %yes, %x)
    block0(%i : int, %b : Tensor):
      %d : Tensor = aten::neg(%x)
      %e : Tensor = aten::log1p(%d)
      -> (%yes, %e)
  return (%h))IR",
                                            {at::zeros({2, 3})}),
                               [](const Program &candidate) {
                                 return count(candidate, "aten::neg") == 1 && count(candidate, "aten::log1p") == 1;
                               });
  EXPECT_EQ(result.checks, 4);
}

} // namespace
} // namespace repro_minify
