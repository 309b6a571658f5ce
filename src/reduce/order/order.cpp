#include "reduce/order/order.h"

#include "reduce/order/plainness.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>

namespace repro_minify {
namespace {

/// Constants and, above all, data are only looked at once the program is about as small as it gets: they take time to
/// look at.
constexpr int most_operators_with_constants = 256;
constexpr int most_operators_with_data = 16;

int missing_arguments(const torch::jit::Block *block) {
  int count = 0;
  for (const auto *node : block->nodes()) {
    count += node->kind() == torch::jit::prim::Constant && node->output()->type()->kind() == c10::TypeKind::NoneType;
    for (const auto *inner : node->blocks())
      count += missing_arguments(inner);
  }
  return count;
}

/// More trips than anybody counts.
constexpr std::int64_t many_trips = std::int64_t{1} << 20;

std::int64_t trips_in(const torch::jit::Block *block) {
  std::int64_t trips = 0;
  for (const auto *node : block->nodes()) {
    if (node->kind() == torch::jit::prim::Loop) {
      const auto most = torch::jit::toIValue(node->input(0));
      trips += most ? std::clamp(most->toInt(), std::int64_t{0}, many_trips) : many_trips;
    }
    for (const auto *inner : node->blocks())
      trips += trips_in(inner);
  }
  return trips;
}

} // namespace

Order order_of(const Program &program) {
  const ProgramSize size = size_of(program);
  Order order;
  order.operators = size.operators;
  order.nodes = size.nodes - missing_arguments(program.graph->block());
  order.outputs = size.outputs;
  order.inputs = static_cast<int>(program.inputs.size());
  std::set<void *> storages;
  order.trips = trips_in(program.graph->block());
  for (const auto &input : program.inputs) {
    const auto &tensor = input.value.toTensor();
    order.data_inputs += input.formula.empty();
    order.elements += tensor.numel();
    order.dimensions += static_cast<int>(tensor.dim());
    order.irregular_inputs += shares_memory(tensor, storages) || is_irregular(tensor);
    order.dtypes += difficulty(tensor.scalar_type());
    order.needs_autograd += tensor.requires_grad();
    order.roles += difficulty(input.role);
    if (!input.formula.empty() || size.operators <= most_operators_with_data)
      order.values += difficulty(input);
  }
  if (size.operators <= most_operators_with_constants)
    order.constants = difficulty_of_constants(program.graph->block());
  return order;
}

} // namespace repro_minify
