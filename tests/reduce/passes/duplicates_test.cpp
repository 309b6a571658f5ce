#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

TEST(Duplicates, OfAWholeSubgraphGoInOneStep) {
  const auto result = run_pass("duplicates",
                               program_from(R"IR(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::neg(%a)
  %also_one : int = prim::Constant[value=1]()
  %c : Tensor = aten::relu(%x)
  %d : Tensor = aten::neg(%c)
  %e : Tensor = aten::add(%b, %d, %also_one)
  %f : Tensor = aten::add(%e, %b, %one)
  return (%f))IR",
                                            {at::ones({2, 3})}),
                               [](const Program &candidate) { return count(candidate, "aten::add") == 2; });
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %1 : int = prim::Constant[value=1]()
  %2 : Tensor = aten::relu(%x)
  %3 : Tensor = aten::neg(%2)
  %7 : Tensor = aten::add(%3, %3, %1)
  %8 : Tensor = aten::add(%7, %3, %1)
  return (%8)
)IR");
  EXPECT_EQ(result.checks, 1);
}

TEST(Duplicates, ThatAreNeededStay) {
  const auto result = run_pass("duplicates",
                               program_from(R"IR(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::relu(%x)
  %c : Tensor = aten::sin(%x)
  %d : Tensor = aten::sin(%x)
  %e : Tensor = aten::add(%a, %b, %one)
  %f : Tensor = aten::add(%c, %d, %one)
  %g : Tensor = aten::add(%e, %f, %one)
  return (%g))IR",
                                            {at::ones({2, 3})}),
                               [](const Program &candidate) { return count(candidate, "aten::sin") == 2; });
  EXPECT_EQ(count(result.reduction.program, "aten::relu"), 1);
  EXPECT_EQ(count(result.reduction.program, "aten::sin"), 2);
  EXPECT_EQ(result.checks, 2);
}

TEST(Duplicates, ThatAreWrittenToAreNone) {
  const auto result = run_pass("duplicates",
                               program_from(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::relu(%x)
  %c : Tensor = aten::neg_(%a)
  return (%b, %c))IR",
                                            {at::ones({2, 3})}),
                               [](const Program &) { return true; });
  EXPECT_EQ(result.checks, 0);
}

} // namespace
} // namespace repro_minify
