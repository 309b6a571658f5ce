#include "program/device.h"

#include "program/python_call.h"
#include "program/values.h"

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

#include <functional>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Node;

void for_each_node(Block *block, const std::function<void(Node *)> &visit) {
  const std::vector<Node *> nodes(block->nodes().begin(), block->nodes().end());
  for (Node *node : nodes) {
    for (Block *inner : node->blocks())
      for_each_node(inner, visit);
    visit(node);
  }
}

void for_each_node(const torch::jit::Module &module, const std::function<void(Node *)> &visit) {
  for (auto *function : module._ivalue()->compilation_unit()->get_functions())
    if (auto *graph_function = torch::jit::tryToGraphFunction(*function))
      for_each_node(graph_function->graph()->block(), visit);
}

void replace(Node *constant, const c10::IValue &value) {
  torch::jit::WithInsertPoint guard(constant);
  constant->output()->replaceAllUsesWith(constant->owningGraph()->insertConstant(value));
}

using Redirection = std::function<c10::Device(c10::Device)>;

/// Returns where a device among the arguments of a call stands now. A text that names none, which only a hand-made
/// archive has, stays.
std::string redirected(const std::string &written, const Redirection &to) {
  try {
    return to(c10::Device(written)).str();
  } catch (const c10::Error &) {
    return written;
  }
}

/// Redirects the devices among the arguments of a call of torch.fx. Returns true if one is another now.
bool redirect(nlohmann::json &form, const Redirection &to) {
  bool changed = false;
  if (form.is_object() && form.size() == 1 && form.contains("device") && form["device"].is_string()) {
    const std::string written = form["device"];
    form["device"] = redirected(written, to);
    changed = form["device"] != written;
  } else if (form.is_structured()) {
    for (auto &part : form)
      changed |= redirect(part, to);
  }
  return changed;
}

void redirect(Node *node, const Redirection &to) {
  if (is_python_call(node)) {
    if (nlohmann::json call = python_call_of(node); redirect(call, to))
      set_python_call(node, call);
  } else if (node->kind() == torch::jit::prim::Constant) {
    const auto value = torch::jit::toIValue(node->output());
    if (!value || !value->isDevice())
      return;
    if (const c10::Device wanted = to(value->toDevice()); wanted != value->toDevice())
      replace(node, wanted);
  }
}

} // namespace

void redirect_device_constants(torch::jit::Module &module, c10::Device device) {
  bool names_cuda = false;
  const Redirection look = [&](c10::Device written) {
    names_cuda |= written.is_cuda();
    return written;
  };
  for_each_node(module, [&](Node *node) { redirect(node, look); });
  const Redirection there = [&](c10::Device written) {
    return written.is_cuda() || (written.is_cpu() && !names_cuda && !device.is_cpu()) ? device : written;
  };
  for_each_node(module, [&](Node *node) { redirect(node, there); });
}

void move_module(torch::jit::Module &module, c10::Device device) {
  const at::NoGradGuard no_grad;
  for (const auto &submodule : module.modules())
    for (const auto &attribute : submodule.named_attributes(/*recurse=*/false))
      for_each_tensor(attribute.value, [&](at::Tensor tensor) {
        if (tensor.defined() && tensor.device() != device)
          tensor.set_data(tensor.to(device));
      });
  for_each_node(module, [&](Node *node) {
    const auto value = node->kind() == torch::jit::prim::Constant ? torch::jit::toIValue(node->output()) : std::nullopt;
    if (value && value->isTensor() && value->toTensor().defined() && value->toTensor().device() != device)
      replace(node, value->toTensor().to(device));
  });
}

} // namespace repro_minify
