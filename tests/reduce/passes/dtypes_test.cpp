#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *mul = R"IR(
graph(%x : Tensor, %y : Tensor):
  %z : Tensor = aten::mul(%x, %y)
  return (%z))IR";

at::ScalarType dtype_of(const Program &program, size_t input) {
  return program.inputs.at(input).value.toTensor().scalar_type();
}

TEST(Dtypes, AllBecomeFloat32AtOnce) {
  const auto result =
      run_pass("dtypes", program_from(mul, {at::full({2}, 0.1, at::kDouble), at::ones({2}, at::kBFloat16)}),
               [](const Program &) { return true; });
  EXPECT_EQ(dtype_of(result.reduction.program, 0), at::kFloat);
  EXPECT_EQ(dtype_of(result.reduction.program, 1), at::kFloat);
  EXPECT_EQ(result.reduction.program.inputs[0].value.toTensor()[0].item<float>(), 0.1f);
  EXPECT_EQ(result.checks, 1);
}

TEST(Dtypes, AnIntegerStaysAPlainOne) {
  const auto result =
      run_pass("dtypes", program_from(mul, {at::ones({2}, at::kChar), at::ones({2})}),
               [](const Program &candidate) { return at::isIntegralType(dtype_of(candidate, 0), false); });
  EXPECT_EQ(dtype_of(result.reduction.program, 0), at::kLong);
  EXPECT_EQ(result.checks, 2);
}

TEST(Dtypes, TheGraphFollows) {
  const auto result = run_pass(
      "dtypes",
      program_from(R"IR(
graph(%x : Tensor):
  %half : int = prim::Constant[value=5]()
  %none : NoneType = prim::Constant()
  %false : bool = prim::Constant[value=0]()
  %y : Tensor = aten::to(%x, %half, %false, %false, %none)
  return (%y))IR",
                   {at::ones({2}, at::kHalf)}),
      [](const Program &candidate) {
        const auto dtype = torch::jit::toIValue(candidate.graph->outputs()[0]->node()->input(1))->toInt();
        return dtype_of(candidate, 0) == static_cast<at::ScalarType>(dtype) && dtype_of(candidate, 0) != at::kFloat;
      });
  EXPECT_EQ(dtype_of(result.reduction.program, 0), at::kDouble);
  EXPECT_EQ(result.checks, 4);
}

} // namespace
} // namespace repro_minify
