#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

TEST(Cut, LeavesTheOneOperatorThatMatters) {
  const Program program = program_from(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::sin(%a)
  %c : Tensor = aten::neg(%b)
  %d : Tensor = aten::cos(%c)
  return (%d))IR",
                                       {at::ones({2, 3})});
  const auto result =
      run_pass("cut", program, [](const Program &candidate) { return count(candidate, "aten::neg") > 0; });
  EXPECT_EQ(result.graph, R"IR(graph(%sin : Tensor):
  %2 : Tensor = aten::neg(%sin)
  return (%2)
)IR");
  EXPECT_EQ(result.checks, 5);
}

} // namespace
} // namespace repro_minify
