#include "reduce/passes/edit_constants.h"

#include "reduce/passes/editable_copy.h"

#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

using torch::jit::Node;
using torch::jit::Value;

/// At the top level, before the top-level node that `node` is or is inside of.
Value *existing(Node *node, const c10::IValue &value, const c10::Type &type) {
  auto *graph = node->owningGraph();
  const Node *top = node;
  while (top->owningBlock() != graph->block())
    top = top->owningBlock()->owningNode();
  for (Node *other : graph->block()->nodes()) {
    if (other == top)
      return nullptr;
    if (other->kind() != torch::jit::prim::Constant || *other->output()->type() != type)
      continue;
    const auto held = torch::jit::toIValue(other->output());
    if (held && held->tagKind() == value.tagKind() && *held == value)
      return other->output();
  }
  return nullptr;
}

void set_argument(Node *node, size_t i, const c10::IValue &value) {
  if (Value *constant = existing(node, value, *value.type())) {
    node->replaceInput(i, constant);
    return;
  }
  torch::jit::WithInsertPoint guard(node);
  node->replaceInput(i, node->owningGraph()->insertConstant(value));
}

} // namespace

Program with_arguments(const Program &program, const std::vector<ArgumentEdit> &edits) {
  EditableCopy copy(program);
  for (const ArgumentEdit &edit : edits)
    set_argument(copy.of(edit.node), edit.argument, edit.value);
  drop_unused(copy.program);
  return std::move(copy.program);
}

} // namespace repro_minify
