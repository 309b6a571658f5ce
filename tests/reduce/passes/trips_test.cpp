#include "reduce/passes/golden.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *hundred_times = R"IR(
graph(%x : Tensor):
  %n : int = prim::Constant[value=100]()
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%n, %yes, %x)
    block0(%i : int, %c : Tensor):
      %a : Tensor = aten::neg(%c)
      -> (%yes, %a)
  return (%y))IR";

Predicate at_least(int64_t trips) {
  return [trips](const Program &candidate) {
    for (const auto *node : all_nodes(*candidate.graph))
      if (node->kind() == torch::jit::prim::Loop)
        return torch::jit::toIValue(node->input(0)).value_or(c10::IValue(0)).toInt() >= trips;
    return false;
  };
}

TEST(Trips, AreAsFewAsFail) {
  const auto result = run_pass("trips", program_from(hundred_times, {at::ones({2, 3})}), at_least(7));
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %7 : int = prim::Constant[value=7]()
  %2 : bool = prim::Constant[value=1]()
  %3 : Tensor = prim::Loop(%7, %2, %x)
    block0(%i : int, %c : Tensor):
      %6 : Tensor = aten::neg(%c)
      -> (%2, %6)
  return (%3)
)IR");
  // 2, 4 pass, 8 fails, 6 passes, 7 fails; that 2, 4 and 6 pass is known then.
  EXPECT_EQ(result.checks, 5);
}

TEST(Trips, ThatAreAllNeededCostALogarithm) {
  const auto result = run_pass("trips", program_from(hundred_times, {at::ones({2, 3})}), at_least(100));
  EXPECT_EQ(result.checks, 7);
}

} // namespace
} // namespace repro_minify
