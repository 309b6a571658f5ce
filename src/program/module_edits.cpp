#include "program/module_edits.h"

#include "core/json.h"
#include "program/python_call.h"
#include "program/values.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

namespace repro_minify {
namespace {

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
bool redirect(json &form, const Redirection &to) {
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
    if (json call = python_call_of(node); redirect(call, to))
      set_python_call(node, call);
  } else if (node->kind() == prim::Constant) {
    const auto value = torch::jit::toIValue(node->output());
    if (!value || !value->isDevice())
      return;
    if (const c10::Device wanted = to(value->toDevice()); wanted != value->toDevice())
      replace(node, wanted);
  }
}

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
  while (value->node()->kind() == prim::unchecked_cast)
    value = value->node()->input();
  return value;
}

void widen_dtype_arguments(Node *node) {
  const auto *schema = node->maybeSchema();
  if (!schema)
    return;
  if ((schema->name() == "aten::view" && schema->overload_name() == "dtype") ||
      schema->name() == "prims::view_of_dtype")
    throw std::runtime_error("it reads the bits of a tensor as those of another dtype");
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

void move_attributes(const torch::jit::Module &module, c10::Device device) {
  const at::NoGradGuard no_grad;
  for (const auto &submodule : module.modules())
    for (const auto &attribute : submodule.named_attributes(/*recurse=*/false))
      for_each_tensor(attribute.value, [&](at::Tensor tensor) {
        if (tensor.defined() && tensor.device() != device)
          tensor.set_data(tensor.to(device));
      });
}

void move_module(torch::jit::Module &module, c10::Device device) {
  move_attributes(module, device);
  const at::NoGradGuard no_grad;
  for_each_node(module, [&](Node *node) {
    const auto value = node->kind() == prim::Constant ? torch::jit::toIValue(node->output()) : std::nullopt;
    if (value && value->isTensor() && value->toTensor().defined() && value->toTensor().device() != device)
      replace(node, value->toTensor().to(device));
  });
}

bool is_double(const c10::IValue &value) {
  bool found = false;
  for_each_tensor(value, [&](const at::Tensor &tensor) {
    found |= tensor.defined() && (tensor.scalar_type() == at::kDouble || tensor.scalar_type() == at::kComplexDouble);
  });
  return found;
}

void widen_graph(Block *block, bool narrow_draws) {
  for_each_node(block, [&](Node *node) {
    if (node->kind() == prim::Constant)
      widen_constant(node);
    else if (narrow_draws && draws_otherwise_in_float64(node))
      draw_in_float32(node);
    else
      widen_dtype_arguments(node);
  });
}

void widen_module(torch::jit::Module &module, bool narrow_draws) {
  const at::NoGradGuard no_grad;
  std::map<void *, std::vector<at::Tensor>> by_memory; // what shares it does so afterwards too
  for (const auto &submodule : module.modules())
    for (const auto &attribute : submodule.named_attributes(/*recurse=*/false))
      for_each_tensor(attribute.value, [&](const at::Tensor &tensor) {
        if (tensor.is_floating_point() || tensor.is_complex())
          by_memory[storage_of(tensor)].push_back(tensor);
      });
  for (auto &[memory, tensors] : by_memory) { // one after the other: the narrow ones are let go of
    SharedCloner wide({.requires_grad = false, .double_precision = true});
    std::vector<at::Tensor> widened;
    for (const at::Tensor &tensor : tensors)
      widened.push_back(wide.clone(tensor));
    for (std::size_t i = 0; i < tensors.size(); ++i)
      tensors[i].set_data(widened[i]);
  }
  for (auto *function : module._ivalue()->compilation_unit()->get_functions())
    if (auto *graph_function = torch::jit::tryToGraphFunction(*function)) {
      // A dtype that is handed to a function is a constant only where the function is called.
      torch::jit::Inline(*graph_function->graph());
      widen_graph(graph_function->graph()->block(), narrow_draws);
    }
}

torch::jit::Module with_method_as_forward(const torch::jit::Module &model, const std::string &method) {
  if (method == "forward")
    return model;
  const auto units = model._ivalue()->compilation_unit();
  torch::jit::Module around(c10::QualifiedName("__torch__.Repro"), units, /*shouldMangle=*/true);
  around.register_attribute("training", c10::BoolType::get(), false);
  around.register_module("model", model);
  const auto type = around._ivalue()->type();

  auto graph = std::make_shared<Graph>();
  Value *self = graph->addInput("self");
  self->setType(type);
  std::vector<Value *> operands = {graph->insertGetAttr(self, "model")};
  const auto &schema = model.get_method(method).function().getSchema();
  for (size_t i = 1; i < schema.arguments().size(); ++i) {
    const auto &argument = schema.arguments()[i];
    operands.push_back(graph->addInput(argument.name()));
    operands.back()->setType(argument.type());
  }
  Node *call = graph->insertNode(graph->create(prim::CallMethod, operands));
  call->s_(torch::jit::attr::name, method);
  call->output()->setType(schema.returns().at(0).type());
  graph->registerOutput(call->output());
  type->addMethod(units->create_function(c10::QualifiedName(*type->name(), "forward"), graph));
  return around;
}

} // namespace repro_minify
