#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

Program program_with_parameters() {
  Program program = program_from(R"IR(
graph(%x : Tensor, %w : Tensor, %b : Tensor):
  %y : Tensor = aten::linear(%x, %w, %b)
  return (%y))IR",
                                 {at::ones({1, 1}), at::ones({1, 1}), at::ones({1})});
  program.inputs[1].role = program.inputs[2].role = Role::Parameter;
  return program;
}

TEST(Roles, ParametersBecomeArgumentsAtOnce) {
  const auto result = run_pass("roles", program_with_parameters(), [](const Program &) { return true; });
  EXPECT_EQ(result.reduction.program.inputs[1].role, Role::Input);
  EXPECT_EQ(result.reduction.program.inputs[2].role, Role::Input);
  EXPECT_EQ(result.checks, 1);
}

TEST(Roles, AParameterStaysWhereTheFailureNeedsIt) {
  const auto result = run_pass("roles", program_with_parameters(),
                               [](const Program &candidate) { return candidate.inputs[1].role == Role::Parameter; });
  EXPECT_EQ(result.reduction.program.inputs[1].role, Role::Parameter);
  EXPECT_EQ(result.reduction.program.inputs[2].role, Role::Input);
  EXPECT_EQ(result.checks, 3);
}

} // namespace
} // namespace repro_minify
