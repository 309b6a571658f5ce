// Bypass: remove a node and let its readers read one of its operands instead. A cut can only turn a value into an
// input; where the failure needs a path from one node to another, only a bypass makes the path shorter.
#include "reduce/passes/pass.h"

#include "program/record.h"

#include <algorithm>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

bool same_type(const Value *a, const Value *b) {
  return *a->type() == *b->type() ||
         (a->type()->isSubtypeOf(*c10::TensorType::get()) && b->type()->isSubtypeOf(*c10::TensorType::get()));
}

/// Node number `node` (depth first) removed, its output number `output` read from its operand number `operand`.
Program bypassed(const Program &program, int node, size_t operand) {
  Program result = copy_of(program);
  Node *victim = all_nodes(*result.graph)[node];
  victim->output()->replaceAllUsesWith(victim->input(operand));
  victim->destroy();
  drop_unused(result);
  return result;
}

/// A node whose results nobody reads, gone without a trace. (A cut would return what it read.)
Program without_unread(const Program &program, int node) {
  Program result = copy_of(program);
  all_nodes(*result.graph)[node]->destroy();
  drop_unused(result);
  return result;
}

bool is_unread(const Node *node) {
  return counts_as_operator(node) &&
         std::none_of(node->outputs().begin(), node->outputs().end(), [](const Value *v) { return v->hasUses(); });
}

/// A loop's carried value number `carried` left as it was before the loop.
Program without_carried(const Program &program, int node, size_t carried) {
  Program result = copy_of(program);
  Node *loop = all_nodes(*result.graph)[node];
  Block *body = loop->blocks()[0];
  Value *before = loop->input(carried + 2);
  body->inputs()[carried + 1]->replaceAllUsesWith(before);
  loop->output(carried)->replaceAllUsesWith(before);
  body->eraseOutput(carried + 1);
  body->eraseInput(carried + 1);
  loop->eraseOutput(carried);
  loop->removeInput(carried + 2);
  drop_unused(result);
  return result;
}

} // namespace

bool bypass_nodes(PassContext &context) {
  bool any = false;
  for (bool accepted = true; accepted;) {
    std::vector<Judge::LazyProgram> candidates;
    const auto nodes = all_nodes(*context.current.graph);
    for (int i = static_cast<int>(nodes.size()); i-- > 0;) {
      const Node *node = nodes[i];
      if (is_unread(node))
        candidates.push_back([&context, i] { return without_unread(context.current, i); });
      if (node->kind() == torch::jit::prim::Loop)
        for (size_t carried = 0; carried < node->outputs().size(); ++carried)
          candidates.push_back([&context, i, carried] { return without_carried(context.current, i, carried); });
      if (!node->blocks().empty() || node->outputs().size() != 1 || !counts_as_operator(node))
        continue;
      for (size_t operand = 0; operand < node->inputs().size(); ++operand)
        if (same_type(node->output(), node->input(operand)))
          candidates.push_back([&context, i, operand] { return bypassed(context.current, i, operand); });
    }
    accepted = accept_first(context, candidates);
    any |= accepted;
  }
  return any;
}

} // namespace repro_minify
