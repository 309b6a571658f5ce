#include "backends/inductor_like/plan.h"

#include "backends/inductor_like/codegen/cuda_kernel.h"

#include <ATen/ATen.h>

#include <set>

namespace repro_minify::inductor_like {
namespace {

namespace jit = torch::jit;

struct TypePair {
  at::ScalarType dtype;
  Element element;
};
constexpr TypePair types[] = {{at::kBool, Element::Bool},     {at::kByte, Element::UInt8},
                              {at::kChar, Element::Int8},     {at::kShort, Element::Int16},
                              {at::kInt, Element::Int32},     {at::kLong, Element::Int64},
                              {at::kHalf, Element::Float16},  {at::kBFloat16, Element::BFloat16},
                              {at::kFloat, Element::Float32}, {at::kDouble, Element::Float64}};

/// The tensor as the kernel was written for.
at::Tensor laid_out(const at::Tensor &tensor, const StridedShape &layout) {
  if (tensor.strides() == layout.strides || tensor.numel() == 0)
    return tensor;
  at::Tensor copy = at::empty_strided(layout.sizes, layout.strides, tensor.options());
  return copy.copy_(tensor);
}

void run_kernel(const KernelStep &step, const Plan &plan, const Launch &launch, std::vector<c10::IValue> &slots) {
  std::set<int> made;
  for (const auto &output : step.kernel.outputs) {
    if (!output.is_read)
      continue;
    const StridedShape &layout = plan.layouts[static_cast<size_t>(output.buffer.id)];
    slots[static_cast<size_t>(output.buffer.id)] =
        at::empty(layout.sizes, at::TensorOptions(layout.dtype).device(plan.device));
    made.insert(output.buffer.id);
  }
  std::vector<at::Tensor> alive;
  std::vector<void *> pointers;
  for (const auto &argument : step.arguments) {
    const auto slot = static_cast<size_t>(argument.id);
    at::Tensor tensor = slots[slot].toTensor();
    if (!made.count(argument.id))
      tensor = laid_out(tensor, plan.layouts[slot]);
    pointers.push_back(tensor.data_ptr());
    alive.push_back(std::move(tensor));
  }
  launch(step, pointers);
}

} // namespace

std::optional<Element> element_of(at::ScalarType type) {
  for (const TypePair &pair : types)
    if (pair.dtype == type)
      return pair.element;
  return std::nullopt;
}

at::ScalarType dtype_of(Element element) {
  for (const TypePair &pair : types)
    if (pair.element == element)
      return pair.dtype;
  return at::ScalarType::Undefined;
}

void drop_unread(Plan &plan) {
  std::set<int> read(plan.outputs.begin(), plan.outputs.end());
  for (size_t k = plan.steps.size(); k-- > 0;) {
    if (const auto *aten = std::get_if<AtenStep>(&plan.steps[k])) {
      read.insert(aten->inputs.begin(), aten->inputs.end());
      continue;
    }
    auto &kernel = std::get<KernelStep>(plan.steps[k]).kernel;
    bool any = false;
    for (auto &output : kernel.outputs) {
      output.is_read = read.count(output.buffer.id) > 0;
      any |= output.is_read;
    }
    if (any)
      read.merge(reads(kernel));
    else
      plan.steps.erase(plan.steps.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

void write_kernels(Plan &plan) {
  plan.source.clear();
  for (auto &step : plan.steps)
    if (auto *kernel = std::get_if<KernelStep>(&step)) {
      KernelSource written = plan.device.is_cuda() ? write_cuda_kernel(kernel->name, kernel->kernel)
                                                   : write_kernel(kernel->name, kernel->kernel);
      kernel->arguments = std::move(written.arguments);
      kernel->blocks = written.blocks;
      plan.source += (plan.source.empty() ? "" : "\n") + written.text;
    }
}

std::vector<c10::IValue> run(const Plan &plan, const Launch &launch, const std::vector<c10::IValue> &inputs) {
  if (plan.raises)
    throw std::runtime_error(injected_message);
  std::vector<c10::IValue> slots = plan.slots;
  for (size_t k = 0; k < plan.inputs.size(); ++k)
    slots[static_cast<size_t>(plan.inputs[k])] = inputs[k];
  for (const auto &step : plan.steps) {
    if (const auto *kernel = std::get_if<KernelStep>(&step)) {
      run_kernel(*kernel, plan, launch, slots);
      continue;
    }
    const auto &aten = std::get<AtenStep>(step);
    jit::Stack stack;
    for (const int slot : aten.inputs)
      stack.push_back(slots[static_cast<size_t>(slot)]);
    execute(aten.node, stack);
    for (size_t k = 0; k < aten.outputs.size(); ++k)
      slots[static_cast<size_t>(aten.outputs[k])] = stack.at(stack.size() - aten.outputs.size() + k);
  }
  std::vector<c10::IValue> results;
  for (const int slot : plan.outputs)
    results.push_back(slots[static_cast<size_t>(slot)]);
  return results;
}

} // namespace repro_minify::inductor_like
