#include "program/formula.h"
#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <cmath>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *product = R"IR(
graph(%x : Tensor, %y : Tensor):
  %z : Tensor = aten::mul(%x, %y)
  return (%z))IR";

Program recorded() {
  return program_from(product,
                      {at::tensor(std::vector<float>{0.25f, NAN, -3.5f}), at::tensor(std::vector<float>{1, 2, 3})});
}

TEST(PlainValues, OnesForAllInputsInOneCheck) {
  const auto result = run_pass("plain-values", recorded(), [](const Program &) { return true; });
  EXPECT_EQ(to_string(result.reduction.program.inputs[0].formula.value()), "ones");
  EXPECT_EQ(to_string(result.reduction.program.inputs[1].formula.value()), "ones");
  EXPECT_EQ(result.checks, 1);
}

TEST(PlainValues, TheOutlierEverywhere) {
  const auto result = run_pass("plain-values", recorded(), [](const Program &candidate) {
    return std::isnan(candidate.inputs[0].value.toTensor().sum().item<double>());
  });
  EXPECT_EQ(to_string(result.reduction.program.inputs[0].formula.value()), "full:nan");
  EXPECT_EQ(to_string(result.reduction.program.inputs[1].formula.value()), "ones");
  EXPECT_EQ(result.checks, 5);
}

/// A person writes 130 where the data had 128.79393.
TEST(PlainValues, OneNumberHasTwoDigitsWhereThatIsEnough) {
  const auto program = program_from(product, {at::full({3}, 128.79393), at::ones({3})});
  const auto result = run_pass("plain-values", program, [](const Program &candidate) {
    return candidate.inputs[0].value.toTensor().min().item<double>() > 128;
  });
  EXPECT_EQ(to_string(result.reduction.program.inputs[0].formula.value()), "full:130");
}

} // namespace
} // namespace repro_minify
