#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <cmath>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *rectified = R"IR(
graph(%x : Tensor):
  %y : Tensor = aten::relu(%x)
  return (%y))IR";

const std::vector<float> recorded_values = {0.123456f, -7.654321f, 3.14159f, NAN};

std::vector<float> elements(const Program &program) {
  const auto &tensor = program.inputs.at(0).value.toTensor();
  return {tensor.data_ptr<float>(), tensor.data_ptr<float>() + tensor.numel()};
}

TEST(ShortValues, OnlyTheOutlierIsKept) {
  const auto result = run_pass("short-values", program_from(rectified, {at::tensor(recorded_values)}),
                               [](const Program &candidate) { return std::isnan(elements(candidate)[3]); });
  const auto left = elements(result.reduction.program);
  EXPECT_EQ(std::vector<float>(left.begin(), left.begin() + 3), std::vector<float>({0, 0, 0}));
  EXPECT_TRUE(std::isnan(left[3]));
  EXPECT_EQ(result.checks, 1);
}

TEST(ShortValues, OtherwiseAsFewDigitsAsTheFailureAllows) {
  const auto result =
      run_pass("short-values", program_from(rectified, {at::tensor(recorded_values)}),
               [](const Program &candidate) { return std::abs(elements(candidate)[2] - 3.14159f) < 0.05f; });
  const auto left = elements(result.reduction.program);
  EXPECT_EQ(std::vector<float>(left.begin(), left.begin() + 3), std::vector<float>({0.12f, -7.7f, 3.1f}));
  EXPECT_EQ(result.checks, 5);
}

} // namespace
} // namespace repro_minify
