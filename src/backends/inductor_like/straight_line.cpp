#include "backends/inductor_like/straight_line.h"

#include "program/shared_pages.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>

#include <optional>
#include <utility>

namespace repro_minify::inductor_like {
namespace {

ObservedTensor look_at(const at::Tensor &tensor) {
  ObservedTensor seen;
  seen.dtype = tensor.scalar_type();
  seen.device = tensor.device();
  seen.sizes = tensor.sizes().vec();
  seen.plain = tensor.layout() == c10::kStrided && (tensor.is_cpu() || tensor.is_cuda()) && !tensor.is_complex() &&
               !tensor.is_quantized() && !tensor.is_conj() && !tensor.is_neg() && tensor.has_storage();
  if (!seen.plain)
    return seen;
  seen.strides = tensor.strides().vec();
  seen.offset = tensor.storage_offset();
  seen.storage = storage_of(tensor);
  seen.storage_elements = static_cast<int64_t>(tensor.storage().nbytes() / tensor.itemsize());
  return seen;
}

/// True if the memory of the tensor can be put back after a run has written to it.
bool is_mapped(const at::Tensor &tensor) {
  return tensor.layout() == c10::kStrided && tensor.is_cpu() && tensor.has_storage() && !tensor.is_quantized() &&
         is_untouched(tensor.storage());
}

/// Nothing where it has written to what it was lent.
std::optional<Observation> observed(const StraightLine &line, bool lends) {
  Observation seen;
  RunInputs inputs(line.inputs, lends);
  const auto note = [&](const Value *value) {
    if (const c10::IValue &found = seen.values[value]; found.isTensor() && found.toTensor().defined())
      seen.tensors[value] = look_at(found.toTensor());
  };
  for (size_t k = 0; k < line.inputs.size(); ++k) {
    seen.values[line.graph->inputs()[k]] = inputs.values()[k];
    note(line.graph->inputs()[k]);
  }
  for (auto *node : line.graph->nodes()) {
    run_node(node, seen.values);
    for (const auto *output : node->outputs())
      note(output);
  }
  return inputs.take_back() ? std::nullopt : std::optional(std::move(seen));
}

} // namespace

bool is_dense_in_another_order(const ObservedTensor &tensor) {
  if (!tensor.plain)
    return false;
  const at::Tensor like = at::empty_strided(tensor.sizes, tensor.strides, at::TensorOptions(at::kMeta));
  return like.is_non_overlapping_and_dense() && !like.is_contiguous();
}

const ObservedTensor *Observation::tensor(const Value *value) const {
  const auto found = tensors.find(value);
  return found == tensors.end() ? nullptr : &found->second;
}

c10::IValue constant_of(const Value *value) {
  return jit::toIValue(value).value_or(c10::IValue());
}

void execute(Node *node, jit::Stack &stack) {
  // The interpreter has instructions for packing; all else is an operator.
  if (node->kind() == prim::ListConstruct) {
    c10::impl::GenericList list(node->output()->type()->expectRef<c10::ListType>().getElementType());
    for (auto &element : stack)
      list.push_back(std::move(element));
    stack = {std::move(list)};
  } else if (node->kind() == prim::TupleConstruct) {
    stack = {c10::ivalue::Tuple::create(std::move(stack))};
  } else if (node->kind() == prim::ListUnpack) {
    stack = stack.at(0).toListRef().vec();
  } else if (node->kind() == prim::TupleUnpack) {
    stack = stack.at(0).toTupleRef().elements().vec();
  } else {
    node->getOperation()(stack);
  }
}

void run_node(Node *node, Values &values) {
  if (node->kind() == prim::Constant) {
    values[node->output()] = constant_of(node->output());
    return;
  }
  jit::Stack stack;
  for (const auto *input : node->inputs())
    stack.push_back(values.at(input));
  execute(node, stack);
  for (size_t k = 0; k < node->outputs().size(); ++k)
    values[node->outputs()[k]] = stack.at(stack.size() - node->outputs().size() + k);
}

RunInputs::RunInputs(const std::vector<c10::IValue> &inputs, bool lends) {
  SharedCloner cloner({.requires_grad = false});
  for (const auto &input : inputs) {
    const bool is_lent = lends && input.isTensor() && input.toTensor().defined() && is_mapped(input.toTensor());
    values_.push_back(is_lent ? input.toTensor().variable_data() : cloner.clone(input));
    if (is_lent)
      lent_.push_back(input.toTensor());
  }
}

bool RunInputs::take_back() {
  bool any = false;
  for (const auto &tensor : lent_)
    any |= restore_pages(tensor.storage());
  return any;
}

Observation observe(const StraightLine &line) {
  auto seen = observed(line, /*lends=*/true);
  return seen ? std::move(*seen) : observed(line, /*lends=*/false).value();
}

} // namespace repro_minify::inductor_like
