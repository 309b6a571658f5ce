#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *add = R"IR(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %z : Tensor = aten::add(%x, %y, %one)
  return (%z))IR";

std::vector<int64_t> sizes_of(const GoldenResult &result, size_t input) {
  return result.reduction.program.inputs.at(input).value.toTensor().sizes().vec();
}

TEST(Dimensions, OfSizeOneAreGoneFromAllInputsAtOnce) {
  const auto result = run_pass("dimensions", program_from(add, {at::ones({1, 1, 2}), at::ones({1, 1, 1})}),
                               [](const Program &) { return true; });
  EXPECT_EQ(sizes_of(result, 0), std::vector<int64_t>({2}));
  EXPECT_EQ(sizes_of(result, 1), std::vector<int64_t>({1}));
  EXPECT_EQ(result.checks, 1);
}

TEST(Dimensions, LeadingOnesGoWhereTheFailureAllows) {
  const auto result =
      run_pass("dimensions", program_from(add, {at::ones({2, 3, 4}), at::ones({5, 4})}),
               [](const Program &candidate) { return candidate.inputs[0].value.toTensor().dim() >= 2; });
  EXPECT_EQ(sizes_of(result, 0), std::vector<int64_t>({3, 4}));
  EXPECT_EQ(sizes_of(result, 1), std::vector<int64_t>({4}));
  EXPECT_EQ(result.checks, 2);
}

} // namespace
} // namespace repro_minify
