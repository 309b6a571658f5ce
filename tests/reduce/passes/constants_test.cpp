#include "program/executor.h"
#include "program/python_call.h"
#include "reduce/passes/golden.h"
#include "reduce/passes/remake_input.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>

#include <cmath>
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

/// True if a node, and no input or constant of the Program, makes what an argument is multiplied by.
bool multiplies_by_what_is_made(const Program &program) {
  const auto nodes = all_nodes(*program.graph);
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node *node) {
    return node->kind() == c10::Symbol::fromQualString("aten::mul") &&
           node->input(1)->node() != program.graph->param_node();
  });
}

TEST(Constants, AreFilledWhereTheyHaveToBeMade) {
  const auto ones = run_pass("constants", program_from(times_zeros, {at::ones({2, 2})}), multiplies_by_what_is_made);
  EXPECT_EQ(count(ones.reduction.program, "aten::ones"), 1) << ones.graph;
  EXPECT_EQ(operators(ones), 2) << ones.graph;
  EXPECT_EQ(ones.checks, 2);
  std::string text = times_zeros;
  text.replace(text.find("aten::exp"), 9, "aten::log");
  const auto infinite = run_pass("constants", program_from(text, {at::ones({2, 2})}), multiplies_by_what_is_made);
  EXPECT_NE(infinite.graph.find("aten::full("), std::string::npos) << infinite.graph;
  EXPECT_EQ(operators(infinite), 2) << infinite.graph;
}

TEST(Constants, AreFilledWhereOnlyTheSizeOfAValueIsRead) {
  const auto result = run_pass("constants",
                               program_from(R"IR(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %z : Tensor = aten::ones_like(%w, %none, %none, %none, %no, %none)
  %y : Tensor = aten::mul(%x, %z)
  return (%y))IR",
                                            {at::ones({2, 2}), at::rand({2, 2})}),
                               multiplies_by_what_is_made);
  EXPECT_EQ(count(result.reduction.program, "aten::ones"), 1) << result.graph;
  EXPECT_EQ(result.reduction.program.inputs.size(), 1u);
  EXPECT_EQ(result.checks, 2); // a tensor constant in its place is asked for too
}

TEST(Constants, AreFilledByWhatNeedsNoWord) {
  const auto is = [](const at::Tensor &like, double number, const std::string &operands, const std::string &call) {
    const Program program = program_from("graph(%x : Tensor):" + call_constant("call", R"({"m":"neg","a":[{"%":0}]})") +
                                             "\n  %y : Tensor = fx::tensor(%call, %x)\n  return (%y)",
                                         {at::ones({2})});
    Node *made = insert_filled(program.graph->outputs()[0]->node(), number, like)->node();
    std::string read;
    for (size_t i = 1; i < made->inputs().size(); ++i) {
      const auto operand = *torch::jit::toIValue(made->input(i));
      read += (i > 1 ? " " : "") +
              (operand.isInt() ? std::to_string(operand.toInt()) : nlohmann::json(operand.toDouble()).dump());
    }
    EXPECT_EQ(read, operands);
    EXPECT_EQ(python_call_of(made), nlohmann::json::parse(call));
  };
  register_python_calls();
  is(at::empty({2, 3}), 1, "2 3", R"({"f":"torch.ones","a":[{"%":0},{"%":1}]})");
  is(at::empty({}), 0, "", R"({"f":"torch.zeros","a":[{"tuple":[]}]})");
  is(at::empty({2}), 0.1F, "2 0.1", R"({"f":"torch.full","a":[{"tuple":[{"%":0}]},{"%":1}]})");
  is(at::empty({2}, at::kLong), 3, "2 3", R"({"f":"torch.full","a":[{"tuple":[{"%":0}]},{"%":1}]})");
  is(at::empty({2}, at::kDouble), -INFINITY, "2",
     R"({"f":"torch.full","a":[{"tuple":[{"%":0}]},{"float":"-inf"}],"k":{"dtype":{"torch":"float64"}}})");
  is(at::empty({2}, at::kBool), 1, "2", R"({"f":"torch.ones","a":[{"%":0}],"k":{"dtype":{"torch":"bool"}}})");
  EXPECT_EQ(only_number_in(at::tensor({2.0, 2.0})), 2);
  EXPECT_EQ(only_number_in(at::tensor({2.0, 3.0})), std::nullopt);
  EXPECT_EQ(only_number_in(at::tensor({0.0, -0.0})), std::nullopt);
  EXPECT_EQ(only_number_in(at::empty({0})), 0);
  EXPECT_TRUE(std::isnan(only_number_in(at::full({3}, NAN)).value()));
}

} // namespace
} // namespace repro_minify
