#include "reduce/passes/golden.h"
#include "reduce/turns.h"

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

/// TorchScript has no text for a loop that is bounded by a count and a condition.
TEST(Trips, OfAWhileMakeAForOfIt) {
  const auto result = run_pass("trips",
                               program_from(R"IR(
graph(%x : Tensor):
  %most : int = prim::Constant[value=9223372036854775807]()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %nine : int = prim::Constant[value=9]()
  %yes : bool = prim::Constant[value=1]()
  %n : int, %y : Tensor = prim::Loop(%most, %yes, %zero, %x)
    block0(%i : int, %m : int, %c : Tensor):
      %a : Tensor = aten::neg(%c)
      %next : int = aten::add(%m, %one)
      %more : bool = aten::lt(%next, %nine)
      -> (%more, %next, %a)
  return (%y))IR",
                                            {at::ones({2, 3})}),
                               at_least(2));
  const auto nodes = all_nodes(*result.reduction.program.graph);
  for (const auto *node : nodes)
    if (node->kind() == torch::jit::prim::Loop) {
      EXPECT_EQ(torch::jit::toIValue(node->input(0)), c10::IValue(2));
      EXPECT_EQ(torch::jit::toIValue(node->blocks()[0]->outputs()[0]), c10::IValue(true));
    }
}

/// A cut makes such a loop of a `while` without its condition; no check of it would come to its end.
TEST(Trips, WithoutEndAreNotAskedFor) {
  const auto without_end = [](const char *bound, const char *more) {
    return program_from(std::string("graph(%x : Tensor):\n  %yes : bool = prim::Constant[value=1]()\n  %n : int = "
                                    "prim::Constant[value=") +
                            bound +
                            "]()\n  %no : bool = prim::Constant[value=0]()\n"
                            "  %y : Tensor = prim::Loop(%n, %yes, %x)\n    block0(%i : int, %c : Tensor):\n"
                            "      %a : Tensor = aten::neg(%c)\n      -> (" +
                            more + ", %a)\n  return (%y)",
                        {at::ones({2})});
  };
  EXPECT_TRUE(is_of_no_use(*without_end("9223372036854775807", "%yes").graph));
  EXPECT_FALSE(is_of_no_use(*without_end("9223372036854775807", "%no").graph));
  EXPECT_FALSE(is_of_no_use(*without_end("5", "%yes").graph));
  EXPECT_TRUE(is_of_no_use(*without_end("5", "%no").graph)) << "it has no text";
}

} // namespace
} // namespace repro_minify
