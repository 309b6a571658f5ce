#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

/// Sixty outputs, all sines but for negations at these places.
Program sixty_outputs(const std::vector<int> &negations) {
  std::string body, results;
  for (int i = 0; i < 60; ++i) {
    const bool negated = std::find(negations.begin(), negations.end(), i) != negations.end();
    const std::string value = "%y" + std::to_string(i);
    body += "  " + value + " : Tensor = " + (negated ? "aten::neg" : "aten::sin") + "(%x)\n";
    results += (i ? ", " : "") + value;
  }
  return program_from("graph(%x : Tensor):\n" + body + "  return (" + results + ")", {at::ones({2})});
}

Predicate returns_negations(int wanted) {
  return [wanted](const Program &candidate) {
    const auto outputs = candidate.graph->outputs();
    return std::count_if(outputs.begin(), outputs.end(),
                         [](const auto *output) { return output->node()->kind() == c10::aten::neg; }) == wanted;
  };
}

TEST(Outputs, OneOfSixtyIsFoundByHalves) {
  const auto result = run_pass("outputs", sixty_outputs({37}), returns_negations(1));
  EXPECT_EQ(result.reduction.program.graph->outputs().size(), 1);
  EXPECT_EQ(result.checks, 11);
}

TEST(Outputs, TwoOfSixty) {
  const auto result = run_pass("outputs", sixty_outputs({3, 50}), returns_negations(2));
  EXPECT_EQ(result.reduction.program.graph->outputs().size(), 2);
  EXPECT_EQ(result.checks, 20);
}

TEST(Outputs, OneOfThreeIsTriedAlone) {
  const Program program = program_from(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::sin(%x)
  %b : Tensor = aten::neg(%x)
  %c : Tensor = aten::cos(%x)
  return (%a, %b, %c))IR",
                                       {at::ones({2})});
  const auto result = run_pass("outputs", program, returns_negations(1));
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %1 : Tensor = aten::sin(%x)
  %2 : Tensor = aten::neg(%x)
  %3 : Tensor = aten::cos(%x)
  return (%2)
)IR");
  EXPECT_EQ(result.checks, 3);
}

} // namespace
} // namespace repro_minify
