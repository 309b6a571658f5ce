#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <set>

namespace repro_minify {
namespace {

using namespace testing_support;
using torch::jit::Node;
using torch::jit::Value;

/// True if an argument of forward has a part in a value.
bool depends_on_arguments(const Program &program, const Value *value) {
  if (value->node() == program.graph->param_node())
    return program.inputs[value->offset()].role == Role::Input;
  const auto &operands = value->node()->inputs();
  return std::any_of(operands.begin(), operands.end(),
                     [&](const Value *operand) { return depends_on_arguments(program, operand); });
}

/// True if the Program has what an optimiser that folds constants is wrong about: an argument times a constant.
bool multiplies_by_a_constant(const Program &program) {
  const auto nodes = all_nodes(*program.graph);
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node *node) {
    return node->kind() == c10::Symbol::fromQualString("aten::mul") && depends_on_arguments(program, node->input(0)) &&
           !depends_on_arguments(program, node->input(1));
  });
}

const char *const times_zeros = R"IR(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %two : int = prim::Constant[value=2]()
  %size : int[] = prim::ListConstruct(%two, %two)
  %z : Tensor = aten::zeros(%size, %none, %none, %none, %none)
  %e : Tensor = aten::exp(%z)
  %y : Tensor = aten::mul(%x, %e)
  return (%y))IR";

TEST(Constants, AreWhatOperatorsMakeOfConstants) {
  const auto result = run_pass("constants", program_from(times_zeros, {at::ones({2, 2})}), multiplies_by_a_constant);
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor,
      %c : Tensor):
  %6 : Tensor = aten::mul(%x, %c)
  return (%6)
)IR");
  const Program &program = result.reduction.program;
  ASSERT_EQ(program.inputs.size(), 2u);
  EXPECT_EQ(program.inputs[1].role, Role::Constant);
  EXPECT_TRUE(at::equal(program.inputs[1].value.toTensor(), at::ones({2, 2})));
  EXPECT_EQ(result.checks, 1);
}

/// A cut has tried an input in its place; all other passes leave an operator that makes it.
TEST(Constants, TakeTheLastOperatorThatMakesOne) {
  ReduceOptions options;
  options.limits.timeout = std::chrono::minutes(1);
  const Program program = program_from(times_zeros, {at::ones({2, 2})});
  const auto with = reduce_structurally(program, multiplies_by_a_constant, options);
  options.passes.skip = {"constants"};
  const auto without = reduce_structurally(program, multiplies_by_a_constant, options);
  EXPECT_EQ(size_of(without.program).operators, 2);
  EXPECT_EQ(size_of(with.program).operators, 1);
  EXPECT_TRUE(with.one_minimal);
}

TEST(Constants, AreMadeOfWeightsButNotOfArguments) {
  Program program = program_from(R"IR(
graph(%x : Tensor, %w : Tensor):
  %a : Tensor = aten::t(%x)
  %v : Tensor = aten::t(%w)
  %y : Tensor = aten::mul(%a, %v)
  return (%y))IR",
                                 {at::ones({2, 3}), at::ones({2, 3})});
  const auto arguments = run_pass("constants", program, [](const Program &) { return true; });
  EXPECT_EQ(arguments.checks, 0);
  program.inputs[1].role = Role::Parameter;
  const auto weights = run_pass("constants", program, multiplies_by_a_constant);
  EXPECT_EQ(count(weights.reduction.program, "aten::t"), 1);
  EXPECT_EQ(weights.checks, 1);
}

TEST(Constants, GoByHalvesWhereOneHasToBeMade) {
  std::string text = R"IR(
graph(%y0 : Tensor):
  %none : NoneType = prim::Constant()
  %two : int = prim::Constant[value=2]()
  %size : int[] = prim::ListConstruct(%two, %two)
)IR";
  for (int i = 0; i < 8; ++i) {
    const auto name = [i](const char *letter, int add) { return letter + std::to_string(i + add); };
    text += "  " + name("%z", 0) + " : Tensor = aten::" + (i == 5 ? "ones" : "zeros") +
            "(%size, %none, %none, %none, %none)\n";
    text += "  " + name("%y", 1) + " : Tensor = aten::mul(" + name("%y", 0) + ", " + name("%z", 0) + ")\n";
  }
  const auto result = run_pass("constants", program_from(text + "  return (%y8)", {at::ones({2, 2})}),
                               [](const Program &candidate) { return count(candidate, "aten::ones") == 1; });
  EXPECT_EQ(count(result.reduction.program, "aten::zeros"), 0);
  EXPECT_EQ(result.checks, 6);
}

TEST(Constants, AreNotWhatIsWrittenToOrDrawn) {
  const auto result = run_pass("constants",
                               program_from(R"IR(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %two : int = prim::Constant[value=2]()
  %size : int[] = prim::ListConstruct(%two, %two)
  %z : Tensor = aten::zeros(%size, %none, %none, %none, %none)
  %w : Tensor = aten::add_(%z, %x, %two)
  %r : Tensor = aten::rand(%size, %none, %none, %none, %none)
  %y : Tensor = aten::mul(%z, %r)
  return (%y))IR",
                                            {at::ones({2, 2})}),
                               [](const Program &) { return true; });
  EXPECT_EQ(result.checks, 0);
}

} // namespace
} // namespace repro_minify
