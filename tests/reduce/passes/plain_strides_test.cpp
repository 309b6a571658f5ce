#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *two = R"IR(
graph(%x : Tensor, %y : Tensor):
  %z : Tensor = aten::mul(%x, %y)
  return (%z))IR";

TEST(Strides, AllInputsBecomeContiguousAtOnce) {
  const at::Tensor memory = at::arange(12, at::kFloat).reshape({3, 4});
  const auto result =
      run_pass("strides", program_from(two, {memory.t(), memory.select(0, 1)}), [](const Program &) { return true; });
  const auto &x = result.reduction.program.inputs[0].value.toTensor();
  const auto &y = result.reduction.program.inputs[1].value.toTensor();
  EXPECT_TRUE(x.is_contiguous() && at::equal(x, memory.t()));
  EXPECT_EQ(y.storage().nbytes(), 4 * sizeof(float));
  EXPECT_TRUE(at::equal(y, memory[1]));
  EXPECT_EQ(result.checks, 1);
}

TEST(Strides, StayWhereTheFailureNeedsThem) {
  const at::Tensor memory = at::arange(12, at::kFloat).reshape({3, 4});
  const auto result =
      run_pass("strides", program_from(two, {memory.t(), at::ones({4, 3, 2}).select(2, 0)}),
               [](const Program &candidate) { return !candidate.inputs[0].value.toTensor().is_contiguous(); });
  EXPECT_FALSE(result.reduction.program.inputs[0].value.toTensor().is_contiguous());
  EXPECT_TRUE(result.reduction.program.inputs[1].value.toTensor().is_contiguous());
  EXPECT_EQ(result.checks, 3);
}

TEST(Strides, NothingIsAskedOfContiguousInputs) {
  const auto result =
      run_pass("strides", program_from(two, {at::ones({2}), at::ones({2})}), [](const Program &) { return true; });
  EXPECT_EQ(result.checks, 0);
}

} // namespace
} // namespace repro_minify
