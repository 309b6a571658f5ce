#include "program/flat_graph.h"

#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

using torch::jit::WithInsertPoint;

void lift_tensor_constants(Block *block, InputBuilder &builder) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node *node = *it++;
    for (Block *inner : node->blocks())
      lift_tensor_constants(inner, builder);
    if (node->kind() != prim::Constant)
      continue;
    const auto value = torch::jit::toIValue(node->output());
    bool has_tensor = false;
    if (value)
      for_each_tensor(*value, [&](const at::Tensor &) { has_tensor = true; });
    if (!has_tensor)
      continue;
    WithInsertPoint guard(*node->owningGraph()->nodes().begin());
    node->output()->replaceAllUsesWith(builder.materialise(*value, node->output()->type(), Role::Constant, "c"));
    node->destroy();
  }
}

} // namespace

void finish_flat(Program &program) {
  InputBuilder builder(program);
  lift_tensor_constants(program.graph->block(), builder);
  unpack_outputs(*program.graph);
  remove_unused_constants(*program.graph);
}

} // namespace repro_minify
