#include "program/double_precision.h"

#include "program/shared_pages.h"
#include "program/values.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

/// The int64 that float64 (or complex128) has as a dtype argument, for the dtypes that the fp64 reference widens.
std::optional<int64_t> widened_dtype_argument(int64_t dtype) {
  const auto type = static_cast<at::ScalarType>(dtype);
  if (dtype < 0 || dtype >= static_cast<int64_t>(at::ScalarType::NumOptions))
    return std::nullopt;
  if (at::isComplexType(type))
    return static_cast<int64_t>(at::kComplexDouble);
  if (at::isFloatingType(type))
    return static_cast<int64_t>(at::kDouble);
  return std::nullopt;
}

/// Returns the value in front of TorchScript's casts, which mark it as no longer None.
Value *behind_casts(Value *value) {
  while (value->node()->kind() == torch::jit::prim::unchecked_cast)
    value = value->node()->input();
  return value;
}

void widen_dtype_arguments(Node *node) {
  const auto *schema = node->maybeSchema();
  if (!schema)
    return;
  for (size_t i = 0; i < node->inputs().size() && i < schema->arguments().size(); ++i) {
    if (schema->arguments()[i].name() != "dtype")
      continue;
    const auto value = torch::jit::toIValue(behind_casts(node->input(i)));
    if (!value || !value->isInt())
      continue;
    if (const auto wide = widened_dtype_argument(value->toInt())) {
      torch::jit::WithInsertPoint guard(node);
      node->replaceInput(i, node->owningGraph()->insertConstant(*wide));
    }
  }
}

void widen_constant(Node *node) {
  const auto value = torch::jit::toIValue(node->output());
  if (!value || !(value->isTensor() || value->isTuple() || value->isList()))
    return;
  bool any = false;
  for_each_tensor(*value, [&](const at::Tensor &tensor) { any |= tensor.is_floating_point() || tensor.is_complex(); });
  if (!any)
    return;
  const auto wide = SharedCloner({.requires_grad = false, .double_precision = true}).clone(*value);
  torch::jit::WithInsertPoint guard(node);
  // A type that no constant can have stays as it is: then there is no reference, or a coarser one.
  if (const auto constant = torch::jit::tryInsertConstant(*node->owningGraph(), wide))
    node->output()->replaceAllUsesWith(*constant);
}

at::Tensor widened(const at::Tensor &tensor) {
  const auto type = tensor.is_complex() ? at::kComplexDouble : at::kDouble;
  if (tensor.scalar_type() == type || tensor.layout() != at::kStrided || !tensor.is_contiguous())
    return tensor.to(type);
  return converted(tensor.detach().view({-1}), type).view(tensor.sizes());
}

} // namespace

void widen_graph(Block *block) {
  const std::vector<Node *> nodes(block->nodes().begin(), block->nodes().end());
  for (Node *node : nodes) {
    for (Block *inner : node->blocks())
      widen_graph(inner);
    if (node->kind() == torch::jit::prim::Constant)
      widen_constant(node);
    else
      widen_dtype_arguments(node);
  }
}

void widen_module(torch::jit::Module &module) {
  const at::NoGradGuard no_grad;
  const auto widen = [](at::Tensor tensor) {
    if (tensor.defined() && (tensor.is_floating_point() || tensor.is_complex()))
      tensor.set_data(widened(tensor));
  };
  for (const auto &submodule : module.modules())
    for (const auto &attribute : submodule.named_attributes(/*recurse=*/false))
      for_each_tensor(attribute.value, widen);
  for (auto *function : module._ivalue()->compilation_unit()->get_functions())
    if (auto *graph_function = torch::jit::tryToGraphFunction(*function)) {
      // A dtype that is handed to a function is a constant only where the function is called.
      torch::jit::Inline(*graph_function->graph());
      widen_graph(graph_function->graph()->block());
    }
}

} // namespace repro_minify
