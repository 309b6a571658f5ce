#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

constexpr const char *four_branches = R"IR(
graph(%x : Tensor):
  %c : bool = aten::is_floating_point(%x)
  %a : Tensor = prim::If(%c)
    block0():
      %a0 : Tensor = aten::relu(%x)
      -> (%a0)
    block1():
      -> (%x)
  %b : Tensor = prim::If(%c)
    block0():
      %inner : Tensor = prim::If(%c)
        block0():
          %b0 : Tensor = aten::sin(%a)
          -> (%b0)
        block1():
          -> (%a)
      -> (%inner)
    block1():
      -> (%a)
  %d : Tensor = prim::If(%c)
    block0():
      %d0 : Tensor = aten::neg(%b)
      -> (%d0)
    block1():
      -> (%b)
  return (%d))IR";

TEST(Branches, BecomeWhatWasTakenAllAtOnce) {
  const auto result = run_pass("branches", program_from(four_branches, {at::ones({2, 3})}),
                               [](const Program &candidate) { return count(candidate, "aten::neg") > 0; });
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %12 : Tensor = aten::relu(%x)
  %11 : Tensor = aten::sin(%12)
  %9 : Tensor = aten::neg(%11)
  return (%9)
)IR");
  EXPECT_EQ(result.checks, 1);
}

TEST(Branches, OneThatIsNeededStays) {
  const auto has_neg_in_branch = [](const Program &candidate) {
    const auto nodes = all_nodes(*candidate.graph);
    return std::any_of(nodes.begin(), nodes.end(), [](const auto *node) {
      return node->kind() == c10::aten::neg && node->owningBlock()->owningNode()->kind() == torch::jit::prim::If;
    });
  };
  const auto result = run_pass("branches", program_from(four_branches, {at::ones({2, 3})}), has_neg_in_branch);
  EXPECT_EQ(count(result.reduction.program, "prim::If"), 1);
  EXPECT_EQ(result.checks, 3);
}

TEST(Branches, ThatGoBothWaysAreNotAskedAbout) {
  const auto result = run_pass("branches",
                               program_from(R"IR(
graph(%x : Tensor):
  %two : int = prim::Constant[value=2]()
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%two, %yes, %x)
    block0(%i : int, %c : Tensor):
      %odd : bool = aten::Bool(%i)
      %d : Tensor = prim::If(%odd)
        block0():
          %e : Tensor = aten::neg(%c)
          -> (%e)
        block1():
          -> (%c)
      -> (%yes, %d)
  return (%y))IR",
                                            {at::ones({2, 3})}),
                               [](const Program &) { return true; });
  EXPECT_EQ(result.checks, 0);
}

} // namespace
} // namespace repro_minify
