#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

TEST(Autograd, OnlyTheInputThatMattersNeedsAGradient) {
  std::vector<at::Tensor> values;
  for (int i = 0; i < 4; ++i)
    values.push_back(at::ones({2}).set_requires_grad(true));
  const auto result =
      run_pass("autograd",
               program_from(R"IR(
graph(%a : Tensor, %b : Tensor, %c : Tensor, %d : Tensor):
  %x : Tensor = aten::mul(%a, %b)
  %y : Tensor = aten::mul(%c, %d)
  %z : Tensor = aten::mul(%x, %y)
  return (%z))IR",
                            values),
               [](const Program &candidate) { return candidate.inputs[2].value.toTensor().requires_grad(); });
  std::vector<bool> needs;
  for (const auto &input : result.reduction.program.inputs)
    needs.push_back(input.value.toTensor().requires_grad());
  EXPECT_EQ(needs, std::vector<bool>({false, false, true, false}));
  EXPECT_EQ(result.checks, 4);
}

} // namespace
} // namespace repro_minify
