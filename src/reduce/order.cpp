#include "reduce/order.h"

#include <ATen/core/Tensor.h>

namespace repro_minify {

Order order_of(const Program &program) {
  const ProgramSize size = size_of(program);
  Order order;
  order.operators = size.operators;
  order.nodes = size.nodes;
  order.outputs = size.outputs;
  order.inputs = static_cast<int>(program.inputs.size());
  for (const auto &input : program.inputs) {
    const auto &tensor = input.value.toTensor();
    order.data_inputs += input.formula.empty();
    order.elements += tensor.numel();
    order.needs_autograd += tensor.requires_grad();
  }
  return order;
}

} // namespace repro_minify
