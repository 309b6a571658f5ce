#include "check/operators.h"

#include <gtest/gtest.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <set>

namespace repro_minify {
namespace {

std::vector<std::string> names(const std::string &ir, c10::Device device, bool grad) {
  torch::jit::Graph graph;
  torch::jit::parseIR(ir, &graph);
  std::vector<std::string> result;
  for (const auto &unsteady : unsteady_operators(graph, device, grad))
    result.push_back(unsteady.name);
  return result;
}

constexpr const char *gathers = R"IR(
graph(%x : Tensor, %i : Tensor):
  %zero : int = prim::Constant[value=0]()
  %no : bool = prim::Constant[value=0]()
  %a : Tensor = aten::gather(%x, %zero, %i, %no)
  %b : Tensor = aten::scatter_add_(%x, %zero, %i, %a)
  %c : Tensor = aten::scatter_add_(%x, %zero, %i, %b)
  return (%c))IR";

TEST(Nondeterminism, DependsOnDeviceAndGradients) {
  using List = std::vector<std::string>;
  EXPECT_EQ(names(gathers, c10::kCPU, false), List{});
  EXPECT_EQ(names(gathers, c10::kCPU, true), List{});
  EXPECT_EQ(names(gathers, c10::kCUDA, false), List{"aten::scatter_add_"});
  EXPECT_EQ(names(gathers, c10::kCUDA, true), (List{"aten::gather", "aten::scatter_add_"}));
}

TEST(Nondeterminism, LooksIntoBlocks) {
  constexpr const char *nested = R"IR(
graph(%x : Tensor, %go : bool):
  %p : float = prim::Constant[value=0.5]()
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor = prim::If(%go)
    block0():
      %a : Tensor = aten::dropout(%x, %p, %yes)
      -> (%a)
    block1():
      -> (%x)
  return (%y))IR";
  EXPECT_EQ(names(nested, c10::kCPU, false), std::vector<std::string>{"aten::dropout"});
}

TEST(Nondeterminism, DropoutInEvalModeIsNoSuspect) {
  constexpr const char *eval = R"IR(
graph(%x : Tensor):
  %p : float = prim::Constant[value=0.5]()
  %no : bool = prim::Constant[value=0]()
  %a : Tensor = aten::dropout(%x, %p, %no)
  return (%a))IR";
  EXPECT_TRUE(names(eval, c10::kCPU, true).empty());
}

TEST(Nondeterminism, EveryNameIsOfAnOperatorThatExists) {
  torch::jit::Graph graph;
  for (const auto &registered : torch::jit::getAllOperators())
    if (const std::string &name = registered->schema().name(); name.starts_with("aten::") || name.starts_with("prim::"))
      graph.appendNode(graph.create(c10::Symbol::fromQualString(name), /*num_outputs=*/0));
  std::set<std::string> found;
  for (const auto &unsteady : unsteady_operators(graph, c10::kCUDA, /*grad=*/true)) {
    const std::string name = unsteady.name.substr(unsteady.name.find("::") + 2);
    found.insert(name.ends_with("_") ? name.substr(0, name.size() - 1) : name);
  }
  constexpr std::size_t all = 72; // of the table
  EXPECT_EQ(found.size(), all);
}

TEST(Nondeterminism, ReadsWell) {
  EXPECT_EQ(to_string(std::vector<UnsteadyOperator>{{"aten::a", "x"}, {"aten::b", "y"}}), "aten::a (x), aten::b (y)");
}

} // namespace
} // namespace repro_minify
