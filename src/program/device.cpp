#include "program/device.h"

#include "program/values.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

#include <functional>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Node;

void for_each_constant(Block *block, const std::function<void(Node *, const c10::IValue &)> &visit) {
  const std::vector<Node *> nodes(block->nodes().begin(), block->nodes().end());
  for (Node *node : nodes) {
    for (Block *inner : node->blocks())
      for_each_constant(inner, visit);
    if (node->kind() == torch::jit::prim::Constant)
      if (const auto value = torch::jit::toIValue(node->output()))
        visit(node, *value);
  }
}

void for_each_constant(const torch::jit::Module &module,
                       const std::function<void(Node *, const c10::IValue &)> &visit) {
  for (auto *function : module._ivalue()->compilation_unit()->get_functions())
    if (auto *graph_function = torch::jit::tryToGraphFunction(*function))
      for_each_constant(graph_function->graph()->block(), visit);
}

void replace(Node *constant, const c10::IValue &value) {
  torch::jit::WithInsertPoint guard(constant);
  constant->output()->replaceAllUsesWith(constant->owningGraph()->insertConstant(value));
}

} // namespace

void redirect_device_constants(torch::jit::Module &module, c10::Device device) {
  bool names_cuda = false;
  for_each_constant(
      module, [&](Node *, const c10::IValue &value) { names_cuda |= value.isDevice() && value.toDevice().is_cuda(); });
  for_each_constant(module, [&](Node *node, const c10::IValue &value) {
    if (!value.isDevice())
      return;
    const c10::Device written = value.toDevice();
    if (written.is_cuda() || (written.is_cpu() && !names_cuda && !device.is_cpu()))
      replace(node, device);
  });
}

void move_module(torch::jit::Module &module, c10::Device device) {
  const at::NoGradGuard no_grad;
  for (const auto &submodule : module.modules())
    for (const auto &attribute : submodule.named_attributes(/*recurse=*/false))
      for_each_tensor(attribute.value, [&](at::Tensor tensor) {
        if (tensor.defined() && tensor.device() != device)
          tensor.set_data(tensor.to(device));
      });
  for_each_constant(module, [&](Node *node, const c10::IValue &value) {
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().device() != device)
      replace(node, value.toTensor().to(device));
  });
}

} // namespace repro_minify
