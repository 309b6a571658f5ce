#include "reduce/passes/remake_input.h"

#include "program/formula.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace repro_minify {
namespace {

/// Larger data is not copied element by element: what fails with it has to get smaller first.
constexpr int64_t most_elements = int64_t{1} << 22;

ProgramInput replaced(const ProgramInput &input, at::Tensor value,
                      const std::optional<Formula> &formula = std::nullopt) {
  const bool differentiable = value.is_floating_point() || value.is_complex();
  if (input.value.toTensor().requires_grad() && differentiable)
    value.set_requires_grad(true);
  ProgramInput result = input;
  result.value = value;
  result.formula = formula;
  return result;
}

} // namespace

std::optional<ProgramInput> with_formula(const ProgramInput &input, const Formula &formula,
                                         const std::vector<int64_t> &sizes, at::ScalarType dtype) {
  const auto &old = input.value.toTensor();
  if (!old.defined() || old.layout() != at::kStrided || !old.is_cpu())
    return std::nullopt;
  if (auto value = tensor_from_formula(formula, sizes, dtype))
    return replaced(input, *value, formula);
  if (formula.kind != Formula::Kind::Arange) // a count of one or of none is zeros
    return std::nullopt;
  return with_formula(input, {.kind = Formula::Kind::Zeros}, sizes, dtype);
}

std::optional<ProgramInput> with_sizes(const ProgramInput &input, const std::vector<int64_t> &sizes,
                                       const std::vector<int64_t> &start) {
  const auto &old = input.value.toTensor();
  if (input.formula)
    return with_formula(input, *input.formula, sizes, old.scalar_type());
  if (!is_dense(old))
    return std::nullopt;
  at::Tensor block = old.detach();
  for (size_t d = 0; d < sizes.size(); ++d)
    block = block.narrow(static_cast<int64_t>(d), start[d], sizes[d]);
  const auto copy = copy_of(block, most_elements, strides_like(old, sizes));
  return copy ? std::optional(replaced(input, *copy)) : std::nullopt;
}

std::optional<ProgramInput> with_dimensions(const ProgramInput &input, const std::vector<size_t> &kept) {
  const auto &old = input.value.toTensor();
  if (old.numel() == 0 || (!input.formula && !is_dense(old)))
    return std::nullopt;
  at::Tensor block = old.detach();
  for (int64_t d = old.dim(); d-- > 0;)
    if (std::find(kept.begin(), kept.end(), static_cast<size_t>(d)) == kept.end())
      block = block.select(d, 0);
  if (input.formula)
    return with_formula(input, *input.formula, block.sizes().vec(), old.scalar_type());
  const auto copy = copy_of(block, most_elements);
  return copy ? std::optional(replaced(input, *copy)) : std::nullopt;
}

std::optional<ProgramInput> with_dtype(const ProgramInput &input, at::ScalarType dtype) {
  const auto &old = input.value.toTensor();
  if (input.formula)
    return with_formula(input, *input.formula, old.sizes().vec(), dtype);
  const auto elements = elements_of(old, most_elements);
  if (!elements || at::isComplexType(dtype))
    return std::nullopt;
  return replaced(input, tensor_of(*elements, old.sizes().vec(), dtype, strides_like(old, old.sizes().vec())));
}

std::optional<ProgramInput> with_elements(const ProgramInput &input, const std::vector<double> &elements) {
  const auto &old = input.value.toTensor();
  if (!is_plain(old))
    return std::nullopt;
  return replaced(input,
                  tensor_of(elements, old.sizes().vec(), old.scalar_type(), strides_like(old, old.sizes().vec())));
}

std::optional<Program> with_inputs(const Program &program, const std::vector<size_t> &which,
                                   const std::function<std::optional<ProgramInput>(size_t)> &change) {
  Program result = program; // the graph is shared: only values change
  for (size_t i : which) {
    auto input = change(i);
    if (!input)
      return std::nullopt;
    result.inputs[i] = std::move(*input);
  }
  return result;
}

void note_large_inputs(PassContext &context) {
  for (const ProgramInput &input : context.current.inputs)
    if (!input.formula && input.value.toTensor().numel() > most_elements)
      context.incomplete("left data of more than " + std::to_string(most_elements) + " elements as it is");
}

} // namespace repro_minify
