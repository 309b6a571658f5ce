#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *program_with_copies = R"IR(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %a : Tensor = aten::clone(%x, %none)
  %b : Tensor = aten::relu(%a)
  %c : Tensor = aten::detach(%b)
  return (%c))IR";

TEST(Copies, AreGoneInOneCheck) {
  const auto result = run_pass("copies", program_from(program_with_copies, {at::ones({2, 3})}),
                               [](const Program &candidate) { return count(candidate, "aten::relu") == 1; });
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %3 : Tensor = aten::relu(%x)
  return (%3)
)IR");
  EXPECT_EQ(result.checks, 1);
}

TEST(Copies, StayWhereTheFailureNeedsThem) {
  const auto result = run_pass("copies", program_from(program_with_copies, {at::ones({2, 3})}),
                               [](const Program &candidate) { return count(candidate, "aten::clone") == 1; });
  EXPECT_EQ(count(result.reduction.program, "aten::clone"), 1);
  EXPECT_EQ(result.checks, 1);
}

} // namespace
} // namespace repro_minify
