// Inputs that the simplicity passes do not understand stay what they are, beside others that get simpler.
#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

TEST(UnusualInputs, AreLeftAlone) {
  const at::Tensor sparse = at::ones({2, 3}).to_sparse();
  const at::Tensor quantised = at::quantize_per_tensor(at::ones({2, 3}), 0.1, 10, at::kQInt8);
  const at::Tensor empty = at::ones({0, 3});
  const at::Tensor conjugate = at::ones({2, 3}, at::kComplexFloat).conj();
  const Program program = program_from(R"IR(
graph(%a : Tensor, %b : Tensor, %c : Tensor, %d : Tensor, %e : Tensor):
  %one : int = prim::Constant[value=1]()
  %x : Tensor = aten::add(%a, %b, %one)
  %y : Tensor = aten::add(%c, %d, %one)
  %z : Tensor = aten::add(%x, %y, %one)
  %u : Tensor = aten::add(%z, %e, %one)
  return (%u))IR",
                                       {sparse, quantised, empty, conjugate, at::randn({4, 5}, at::kDouble)});
  for (const char *pass :
       {"plain-values", "arguments", "strides", "sizes", "dtypes", "autograd", "short-values", "dimensions", "roles"}) {
    const auto result = run_pass(pass, program, [](const Program &candidate) {
      const auto at = [&](size_t i) { return candidate.inputs.at(i).value.toTensor(); };
      return at(0).is_sparse() && at(1).is_quantized() && at(2).numel() == 0 && at(3).is_complex();
    });
    const auto &inputs = result.reduction.program.inputs;
    EXPECT_EQ(inputs[0].value.toTensor().sizes(), at::IntArrayRef({2, 3})) << pass;
    EXPECT_EQ(inputs[1].value.toTensor().sizes(), at::IntArrayRef({2, 3})) << pass;
    if (std::string(pass) == "sizes") {
      EXPECT_EQ(inputs[4].value.toTensor().sizes(), at::IntArrayRef({1, 1}));
    } else if (std::string(pass) == "dtypes") {
      EXPECT_EQ(inputs[4].value.toTensor().scalar_type(), at::kFloat);
    }
  }
}

} // namespace
} // namespace repro_minify
