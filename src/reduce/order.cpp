#include "reduce/order.h"

#include "reduce/plainness.h"

#include <ATen/core/Tensor.h>

#include <set>

namespace repro_minify {
namespace {

/// Values are only looked at once the program is about as small as it gets: they take time to look at.
constexpr int most_operators_with_values = 64;

int missing_arguments(const torch::jit::Block *block) {
  int count = 0;
  for (const auto *node : block->nodes()) {
    count += node->kind() == torch::jit::prim::Constant && node->output()->type()->kind() == c10::TypeKind::NoneType;
    for (const auto *inner : node->blocks())
      count += missing_arguments(inner);
  }
  return count;
}

} // namespace

Order order_of(const Program &program) {
  const ProgramSize size = size_of(program);
  Order order;
  order.operators = size.operators;
  order.nodes = size.nodes - missing_arguments(program.graph->block());
  order.outputs = size.outputs;
  order.inputs = static_cast<int>(program.inputs.size());
  const bool with_values = size.operators <= most_operators_with_values;
  std::set<void *> storages;
  for (const auto &input : program.inputs) {
    const auto &tensor = input.value.toTensor();
    order.data_inputs += input.formula.empty();
    order.elements += tensor.numel();
    order.dimensions += static_cast<int>(tensor.dim());
    order.irregular_inputs += shares_memory(tensor, storages) || is_irregular(tensor);
    order.dtypes += difficulty(tensor.scalar_type());
    order.needs_autograd += tensor.requires_grad();
    order.roles += difficulty(input.role);
    order.values += with_values ? difficulty(input) : 0;
  }
  order.constants = with_values ? difficulty_of_constants(program.graph->block()) : 0;
  return order;
}

} // namespace repro_minify
