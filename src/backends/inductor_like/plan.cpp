#include "backends/inductor_like/plan.h"

#include "backends/inductor_like/kernel.h"
#include "backends/inductor_like/kernel_library.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <set>

namespace repro_minify::inductor_like {
namespace {

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
at::Tensor laid_out(const at::Tensor &tensor, const Plan::Layout &layout) {
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
    const Plan::Layout &layout = plan.layouts[static_cast<size_t>(output.buffer.id)];
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
  for (const int id : made)
    if (const auto strides = plan.strides_of_eager.find(id); strides != plan.strides_of_eager.end()) {
      c10::IValue &slot = slots[static_cast<size_t>(id)];
      const Plan::Layout &layout = plan.layouts[static_cast<size_t>(id)];
      slot = laid_out(slot.toTensor(), {layout.dtype, layout.sizes, strides->second});
    }
}

/// The CUDA libraries that this process has loaded.
struct Cuda {
  Nvrtc nvrtc{Nvrtc::libraries()};
  std::shared_ptr<const CudaDriver> driver = std::make_shared<CudaDriver>();
};

const Cuda &cuda() {
  static const Cuda loaded;
  return loaded;
}

std::vector<std::string> kernel_names(const Plan &plan) {
  std::vector<std::string> names;
  for (const auto &step : plan.steps)
    if (const auto *kernel = std::get_if<KernelStep>(&step))
      names.push_back(kernel->name);
  return names;
}

Launch build_for_cuda(const Plan &plan, const std::vector<std::string> &names) {
  const std::shared_ptr<const CudaModule> module = build_cuda_kernels(cuda().nvrtc, cuda().driver, plan.device.index(),
                                                                      cuda_kernel_file(plan.source), names, /*seed=*/0);
  return [module, device = plan.device](const KernelStep &kernel, const std::vector<void *> &pointers) {
    const c10::impl::VirtualGuardImpl guard(device.type());
    module->launch(kernel.name, kernel.blocks, cuda_threads, guard.getStream(device).native_handle(), pointers);
  };
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

std::string no_kernels_because(c10::Device device) {
  if (!device.is_cuda())
    return "";
  try {
    const std::string architecture = cuda().nvrtc.architecture(cuda().driver->capability(device.index()));
    // An NVRTC that lacks a part of itself fails here, not in the name of the program.
    cuda().nvrtc.compile("extern \"C\" __global__ void nothing() {}", architecture);
    return "";
  } catch (const std::runtime_error &error) {
    return error.what();
  }
}

Launch build(const Plan &plan) {
  const auto names = kernel_names(plan);
  if (names.empty())
    return nullptr;
  if (plan.device.is_cuda())
    return build_for_cuda(plan, names);
  return [library = build_kernels(kernel_file(plan.source), names, /*seed=*/0)](const KernelStep &kernel,
                                                                                const std::vector<void *> &pointers) {
    (*library)[kernel.name](pointers.data(), at::get_num_threads());
  };
}

} // namespace repro_minify::inductor_like
