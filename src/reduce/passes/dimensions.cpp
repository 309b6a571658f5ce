// Dimensions: inputs without their leading dimension, or without those of size 1; of all inputs together first.
#include "reduce/passes/pass.h"

#include "reduce/passes/remake_input.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

namespace repro_minify {
namespace {

using Dimensions = std::vector<size_t>;

/// All but the leading one.
Dimensions without_leading(const at::Tensor &tensor) {
  Dimensions kept;
  for (size_t d = 1; d < static_cast<size_t>(tensor.dim()); ++d)
    kept.push_back(d);
  return kept;
}

/// Those that are larger than 1; the last one stays: a tensor without dimensions is treated as a number here and there.
Dimensions without_ones(const at::Tensor &tensor) {
  Dimensions kept;
  for (size_t d = 0; d < static_cast<size_t>(tensor.dim()); ++d)
    if (tensor.size(static_cast<int64_t>(d)) != 1)
      kept.push_back(d);
  if (kept.empty())
    kept.push_back(static_cast<size_t>(tensor.dim()) - 1);
  return kept;
}

template <Dimensions (*kept)(const at::Tensor &)>
std::optional<Program> with_fewer(const Program &program, const std::vector<size_t> &which) {
  return with_inputs(program, which, [&](size_t i) {
    return with_dimensions(program.inputs[i], kept(program.inputs[i].value.toTensor()));
  });
}

bool has_several_dimensions(const ProgramInput &input) {
  return input.value.toTensor().dim() > 1;
}

bool has_ones_to_drop(const ProgramInput &input) {
  const auto sizes = input.value.toTensor().sizes();
  return has_several_dimensions(input) && std::find(sizes.begin(), sizes.end(), 1) != sizes.end();
}

} // namespace

void drop_dimensions(PassContext &context) {
  note_large_inputs(context);
  accept_by_halves(context, inputs_where(context.current, has_ones_to_drop), with_fewer<without_ones>);
  // One after the other, of those inputs that could do without the last one.
  for (auto which = inputs_where(context.current, has_several_dimensions); !which.empty();) {
    const Program before = context.current;
    accept_by_halves(context, which, with_fewer<without_leading>);
    std::erase_if(which, [&](size_t i) {
      const auto dimensions = context.current.inputs[i].value.toTensor().dim();
      return dimensions == before.inputs[i].value.toTensor().dim() || dimensions < 2;
    });
  }
}

} // namespace repro_minify
