#include "reduce/order.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

namespace repro_minify {
namespace {

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
  order.nodes = size.nodes;
  order.outputs = size.outputs;
  order.inputs = static_cast<int>(program.inputs.size());
  order.trips = trips_in(program.graph->block());
  for (const auto &input : program.inputs) {
    const auto &tensor = input.value.toTensor();
    order.data_inputs += input.formula.empty();
    order.elements += tensor.numel();
    order.needs_autograd += tensor.requires_grad();
  }
  return order;
}

} // namespace repro_minify
