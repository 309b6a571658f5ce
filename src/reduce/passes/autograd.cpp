// Autograd: inputs that need no gradient.
#include "reduce/passes/in_bulk.h"

#include <ATen/core/Tensor.h>

namespace repro_minify {
namespace {

std::optional<Program> without_gradient(const Program &program, const std::vector<size_t> &which) {
  Program result = program; // the graph is shared: only values change
  for (size_t i : which)
    result.inputs[i].value = program.inputs[i].value.toTensor().detach();
  return result;
}

} // namespace

void drop_autograd(PassContext &context) {
  const auto is_differentiable = [](const ProgramInput &input) { return input.value.toTensor().requires_grad(); };
  accept_by_halves(context, inputs_where(context.current, is_differentiable), without_gradient);
}

} // namespace repro_minify
