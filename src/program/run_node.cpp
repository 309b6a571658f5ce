#include "program/run_node.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <unordered_map>

namespace repro_minify {
namespace {

using torch::jit::Node;
using torch::jit::Value;

/// Registered as operators, but all that their functions do is to say that the interpreter has an instruction for them.
bool is_instruction(const Node *node) {
  return node->kind() == torch::jit::aten::warn || node->kind() == torch::jit::aten::wait;
}

/// An operator that the interpreter has no instruction of its own for: it calls the very function that is called here.
bool is_plain_operator(const Node *node) {
  const auto *schema = node->maybeSchema();
  return node->kind().is_aten() && !is_instruction(node) && node->blocks().empty() && schema && !schema->is_vararg() &&
         !schema->is_varret();
}

/// The interpreter itself runs the node, in a graph of its own.
void interpret(Node *node, std::vector<c10::IValue> &stack) {
  auto graph = std::make_shared<torch::jit::Graph>();
  std::unordered_map<const Value *, Value *> inputs;
  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < node->inputs().size(); ++i) {
    const Value *input = node->input(i);
    if (inputs.count(input))
      continue;
    // A constant stays one: some operators' instructions want it that way.
    if (input->node()->kind() == torch::jit::prim::Constant) {
      inputs[input] =
          graph->appendNode(graph->createClone(const_cast<Node *>(input->node()), [](Value *v) { return v; }))
              ->output();
      continue;
    }
    inputs[input] = graph->addInput()->setType(input->type());
    arguments.push_back(stack[i]);
  }
  Node *clone = graph->appendNode(graph->createClone(node, [&](Value *v) { return inputs.at(v); }));
  for (Value *output : clone->outputs())
    graph->registerOutput(output);
  torch::jit::Code code(graph, "node");
  torch::jit::InterpreterState(code).run(arguments);
  stack = std::move(arguments);
}

} // namespace

void run_node(Node *node, std::vector<c10::IValue> &stack) {
  // Compiling a graph for the interpreter takes longer than most operators do.
  if (node->kind() == torch::jit::prim::Constant)
    stack = {torch::jit::toIValue(node->output()).value()};
  else if (is_plain_operator(node))
    node->getOperation()(stack);
  else
    interpret(node, stack);
}

} // namespace repro_minify
