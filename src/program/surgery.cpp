#include "program/surgery.h"

#include "program/any_node.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace repro_minify {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

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
    if (gone.count(node) || node->kind() == torch::jit::prim::Param || !node->blocks().empty() || has_effects(node) ||
        node->hasUses())
      continue;
    for (const Value *operand : node->inputs())
      candidates.push_back(const_cast<Value *>(operand)->node());
    node->destroy();
    gone.insert(node);
  }
}

void erase_inputs(torch::jit::Graph &graph, const std::vector<char> &gone) {
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

bool is_written_to(const Value *value) {
  return std::any_of(value->uses().begin(), value->uses().end(), [](const torch::jit::Use &use) {
    const auto *schema = use.user->maybeSchema();
    if (!schema || use.offset >= schema->arguments().size())
      return false;
    const auto *alias = schema->arguments()[use.offset].alias_info();
    return alias && alias->isWrite();
  });
}

} // namespace repro_minify
