#include "check/run_program.h"

#include "program/values.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

namespace repro_minify {
namespace {

/// A dense, detached copy: a backend may reuse the memory of what it returned.
c10::IValue observed_copy(const c10::IValue &value) {
  return SharedCloner({.requires_grad = false}).clone(value);
}

struct Leaf {
  std::string name;
  at::Tensor tensor;
};

std::vector<Leaf> leaves_of(const torch::jit::Module &module, const std::vector<c10::IValue> &arguments) {
  std::vector<Leaf> leaves;
  for (const auto &parameter : module.named_parameters())
    if (parameter.value.requires_grad())
      leaves.push_back({parameter.name, parameter.value});
  for (size_t i = 0; i < arguments.size(); ++i)
    for_each_tensor(arguments[i], [&](const at::Tensor &tensor) {
      if (tensor.requires_grad())
        leaves.push_back({"input " + std::to_string(i), tensor});
    });
  return leaves;
}

void observe_gradients(Observed &observed, const c10::IValue &output, const std::vector<Leaf> &leaves) {
  const at::Tensor loss = reduce_to_scalar_loss(output);
  std::vector<at::Tensor> tensors;
  for (const auto &leaf : leaves)
    tensors.push_back(leaf.tensor);
  std::vector<at::Tensor> gradients(tensors.size());
  if (loss.defined() && !tensors.empty())
    gradients = torch::autograd::grad({loss}, tensors, {}, std::nullopt, /*create_graph=*/false, /*allow_unused=*/true);
  for (size_t i = 0; i < leaves.size(); ++i) {
    observed.gradient_names.push_back(leaves[i].name);
    observed.gradients.push_back(gradients[i].defined() ? observed_copy(gradients[i])
                                                        : at::zeros_like(tensors[i]).detach());
  }
}

} // namespace

at::Tensor reduce_to_scalar_loss(const c10::IValue &output) {
  std::vector<c10::IValue> leaves;
  flatten_value(output, leaves);
  at::Tensor total;
  int parts = 0;
  for (const auto &leaf : leaves) {
    if (!leaf.isTensor() || !leaf.toTensor().defined())
      continue;
    ++parts;
    at::Tensor tensor = leaf.toTensor();
    if (!tensor.requires_grad() || tensor.numel() == 0)
      continue;
    if (tensor.is_complex())
      tensor = at::view_as_real(tensor.resolve_conj());
    const at::Tensor mean = tensor.sum() / static_cast<double>(leaf.toTensor().numel());
    total = total.defined() ? total + mean : mean;
  }
  return total.defined() ? total / static_cast<double>(parts) : total;
}

Observed run_program(const std::function<c10::IValue(std::vector<c10::IValue>)> &forward, const Instance &instance,
                     bool grad, bool with_buffers) {
  SharedCloner cloner({.requires_grad = grad});
  std::vector<c10::IValue> copies;
  for (const auto &argument : instance.arguments)
    copies.push_back(cloner.clone(argument));
  const auto leaves = grad ? leaves_of(instance.module, copies) : std::vector<Leaf>{};

  Observed observed;
  const c10::IValue output = forward(copies);
  observed.output = observed_copy(output);
  if (grad)
    observe_gradients(observed, output, leaves);
  if (with_buffers)
    for (const auto &buffer : instance.module.named_buffers()) {
      observed.state_names.push_back("buffer " + buffer.name);
      observed.state.push_back(observed_copy(buffer.value));
    }
  for (size_t i = 0; i < copies.size(); ++i) {
    observed.state_names.push_back("input " + std::to_string(i) + " after the run");
    observed.state.push_back(observed_copy(copies[i]));
  }
  return observed;
}

} // namespace repro_minify
