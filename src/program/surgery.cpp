#include "program/surgery.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace repro_minify {

bool any_node(const Block *block, const std::function<bool(const Node *)> &is) {
  return std::any_of(block->nodes().begin(), block->nodes().end(), [&](const Node *node) {
    return is(node) || std::any_of(node->blocks().begin(), node->blocks().end(),
                                   [&](const Block *inner) { return any_node(inner, is); });
  });
}

const Node *outermost(const Node *node) {
  while (node->owningBlock() != node->owningGraph()->block())
    node = node->owningBlock()->owningNode();
  return node;
}

bool writes(const Node *node) {
  const auto *schema = node->maybeSchema();
  return schema && schema->is_mutable();
}

bool writes_to_something(const Graph &graph) {
  return any_node(graph.block(), writes);
}

bool draws_random_numbers(const Graph &graph) {
  return any_node(graph.block(), [](const Node *node) { return node->isNondeterministic(); });
}

bool has_role(const Program &program, Role role) {
  return std::any_of(program.inputs.begin(), program.inputs.end(),
                     [&](const ProgramInput &input) { return input.role == role; });
}

bool has_attributes(const Program &program) {
  return std::any_of(program.inputs.begin(), program.inputs.end(),
                     [](const ProgramInput &input) { return input.role != Role::Input; });
}

std::vector<Value *> paste_block(const Block *block, Node *before, const std::vector<Value *> &arguments) {
  std::unordered_map<const Value *, Value *> pasted;
  const auto stands_for = [&](Value *value) {
    const auto found = pasted.find(value);
    return found == pasted.end() ? value : found->second; // what the block captures stays
  };
  for (size_t i = 0; i < block->inputs().size(); ++i)
    pasted[block->inputs()[i]] = arguments.at(i);
  for (const Node *node : block->nodes()) {
    Node *copy = before->owningGraph()->createClone(const_cast<Node *>(node), stands_for)->insertBefore(before);
    for (size_t i = 0; i < node->outputs().size(); ++i)
      pasted[node->output(i)] = copy->output(i);
  }
  std::vector<Value *> results;
  for (Value *output : const_cast<Block *>(block)->outputs())
    results.push_back(stands_for(output));
  return results;
}

void replace_node(Node *node, const std::vector<Value *> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    node->output(i)->replaceAllUsesWith(values[i]);
  node->destroy();
}

void drop_unread(const std::vector<Value *> &values) {
  std::vector<Node *> candidates;
  for (Value *value : values)
    candidates.push_back(value->node());
  std::set<Node *> gone;
  while (!candidates.empty()) {
    Node *node = candidates.back();
    candidates.pop_back();
    if (gone.count(node) || node->kind() == prim::Param || !node->blocks().empty() || has_effects(node) ||
        node->hasUses())
      continue;
    for (const Value *operand : node->inputs())
      candidates.push_back(const_cast<Value *>(operand)->node());
    node->destroy();
    gone.insert(node);
  }
}

void erase_inputs(Graph &graph, const std::vector<char> &gone) {
  std::vector<size_t> order;
  for (const bool last : {false, true})
    for (size_t i = 0; i < gone.size(); ++i)
      if ((gone[i] != 0) == last)
        order.push_back(i);
  const auto left = static_cast<size_t>(std::count(gone.begin(), gone.end(), 0));
  graph.block()->permuteInputs(order);
  for (size_t i = gone.size(); i > left; --i)
    graph.eraseInput(i - 1);
}

bool has_effects(const Node *node) {
  return writes(node) || node->hasSideEffects() || node->isNondeterministic();
}

namespace {

bool is_container(const Value *value) {
  return value->type()->cast<c10::ListType>() || value->type()->cast<c10::DictType>();
}

} // namespace

bool is_written_to(const Value *value) {
  return std::any_of(value->uses().begin(), value->uses().end(), [value](const torch::jit::Use &use) {
    const auto *schema = use.user->maybeSchema();
    if (schema && is_container(value) &&
        std::any_of(use.user->outputs().begin(), use.user->outputs().end(),
                    [](const Value *part) { return is_container(part) && is_written_to(part); }))
      return true;
    if (!schema || use.offset >= schema->arguments().size())
      return false;
    const auto *alias = schema->arguments()[use.offset].alias_info();
    return alias && alias->isWrite();
  });
}

namespace {

/// Deals the decisions of a run out to the nodes that they were made at.
class PathWalk {
public:
  explicit PathWalk(const Recording &recording) : recording_(recording), path_(recording.nodes.size()) {}

  void follow(const Block *block) {
    for (const Node *node : block->nodes())
      if (node->kind() == prim::If)
        follow(node->blocks()[decide(node) ? 0 : 1]);
      else if (node->kind() == prim::Loop)
        for (int64_t trips = decide(node); trips > 0; --trips)
          follow(node->blocks()[0]);
  }

  std::vector<std::vector<int64_t>> path() { return std::move(path_); }

private:
  int64_t decide(const Node *node) {
    const int64_t decision = recording_.decisions.at(next_++);
    path_[recording_.node_index.at(node)].push_back(decision);
    return decision;
  }

  const Recording &recording_;
  std::vector<std::vector<int64_t>> path_;
  size_t next_ = 0;
};

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
  auto graph = std::make_shared<Graph>();
  std::unordered_map<const Value *, Value *> inputs;
  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < node->inputs().size(); ++i) {
    const Value *input = node->input(i);
    if (inputs.count(input))
      continue;
    // A constant stays one: some operators' instructions want it that way.
    if (input->node()->kind() == prim::Constant) {
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

std::vector<std::vector<int64_t>> path_of(const Recording &recording) {
  PathWalk walk(recording);
  walk.follow(recording.program.graph->block());
  return walk.path();
}

Block *only_block_taken(const Node *node, const std::vector<int64_t> &decisions) {
  const auto differs = [&](int64_t decision) { return decision != decisions.front(); };
  if (decisions.empty() || std::any_of(decisions.begin(), decisions.end(), differs))
    return nullptr;
  return const_cast<Block *>(node->blocks()[decisions.front() ? 0 : 1]);
}

void run_node(Node *node, std::vector<c10::IValue> &stack) {
  // Compiling a graph for the interpreter takes longer than most operators do.
  if (node->kind() == prim::Constant)
    stack = {torch::jit::toIValue(node->output()).value()};
  else if (is_plain_operator(node))
    node->getOperation()(stack);
  else
    interpret(node, stack);
}

} // namespace repro_minify
