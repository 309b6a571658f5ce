// The operators of the pretended device are the CPU's: tensors of the device are given to them as tensors of the CPU,
// and what they return is of the device again.
#include "device.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/op_registration/op_registration.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace pretended {
namespace {

using at::Tensor;

/// The same memory as a tensor of another device.
Tensor twin_of(const Tensor &tensor, c10::Device device) {
  TORCH_CHECK(tensor.has_storage() && !tensor.is_sparse(), "the pretended CUDA device has dense tensors only");
  const c10::Storage storage = tensor.storage();
  const auto release = [](void *kept) { delete static_cast<c10::Storage *>(kept); };
  c10::DataPtr data(storage.mutable_data(), new c10::Storage(storage), release, device);
  c10::Storage same(c10::Storage::use_byte_size_t(), storage.nbytes(), std::move(data),
                    c10::GetAllocator(device.type()), /*resizable=*/true);
  const c10::DispatchKeySet keys(device.is_cpu() ? c10::DispatchKey::CPU : c10::DispatchKey::CUDA);
  Tensor twin = at::detail::make_tensor<c10::TensorImpl>(std::move(same), keys, tensor.dtype());
  twin.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  twin._set_conj(tensor.is_conj());
  twin._set_neg(tensor.is_neg());
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
    twin.unsafeGetTensorImpl()->set_wrapped_number(true);
  return twin;
}

Tensor on_cpu(const Tensor &tensor) {
  return tensor.defined() && tensor.is_cuda() ? twin_of(tensor, c10::kCPU) : tensor;
}

/// One call of an operator of the CPU with tensors of the device.
class CallOnCpu {
public:
  void call(const c10::OperatorHandle &op, torch::jit::Stack &stack) {
    const auto &arguments = op.schema().arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      c10::IValue &value = stack[stack.size() - arguments.size() + i];
      value = to_cpu(value, *arguments[i].type() == *c10::ListType::create(c10::OptionalType::ofTensor()));
    }
    op.callBoxed(stack);
    for (std::size_t i = 0; i < op.schema().returns().size(); ++i) {
      c10::IValue &value = stack[stack.size() - 1 - i];
      value = to_device(value);
    }
  }

private:
  struct Pair {
    Tensor of_device, of_cpu;
  };

  Tensor to_cpu(const Tensor &tensor) {
    const Tensor twin = on_cpu(tensor);
    if (tensor.defined() && tensor.is_cuda())
      pairs_.push_back({tensor, twin});
    return twin;
  }

  c10::IValue to_cpu(const c10::IValue &value, bool has_optional_elements) {
    if (value.isTensor())
      return to_cpu(value.toTensor());
    if (value.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor &tensor : value.toTensorVector())
        list.push_back(to_cpu(tensor));
      return list;
    }
    if (value.isList() && has_optional_elements) {
      c10::List<std::optional<Tensor>> list;
      for (const c10::IValue &element : value.toListRef())
        list.push_back(element.isTensor() ? std::optional(to_cpu(element.toTensor())) : std::nullopt);
      return list;
    }
    if (value.isDevice())
      return c10::Device(c10::kCPU);
    if (value.isGenerator()) // the device's, which the CPU's stands for meanwhile
      return {};
    return value;
  }

  /// An argument that was resized or given other memory is so on the device too.
  static Tensor follow(const Pair &pair) {
    c10::TensorImpl *impl = pair.of_device.unsafeGetTensorImpl();
    if (pair.of_cpu.storage().data() != pair.of_device.storage().data())
      impl->set_storage_keep_dtype(twin_of(pair.of_cpu, the_device).storage());
    if (pair.of_cpu.sizes() != pair.of_device.sizes() || pair.of_cpu.strides() != pair.of_device.strides())
      impl->set_sizes_and_strides(pair.of_cpu.sizes(), pair.of_cpu.strides(), pair.of_cpu.storage_offset());
    return pair.of_device;
  }

  /// Memory of the device as `like` sees the same memory of the CPU, which may be with another dtype.
  static Tensor view_of(const Tensor &of_device, const Tensor &like) {
    Tensor view = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(of_device.storage()),
                                                           of_device.key_set(), like.dtype());
    view.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
    view._set_conj(like.is_conj());
    view._set_neg(like.is_neg());
    return view;
  }

  /// An argument itself, a view of one, or what is new.
  Tensor to_device(const Tensor &tensor) const {
    if (!tensor.defined() || !tensor.is_cpu())
      return tensor;
    for (const Pair &pair : pairs_)
      if (tensor.is_same(pair.of_cpu))
        return follow(pair);
    for (const Pair &pair : pairs_)
      if (tensor.storage().is_alias_of(pair.of_cpu.storage()))
        return view_of(pair.of_device, tensor);
    return twin_of(tensor, the_device);
  }

  c10::IValue to_device(const c10::IValue &value) const {
    if (value.isTensor())
      return to_device(value.toTensor());
    if (!value.isTensorList())
      return value;
    c10::List<Tensor> list;
    for (const Tensor &tensor : value.toTensorVector())
      list.push_back(to_device(tensor));
    return list;
  }

  std::vector<Pair> pairs_;
};

void on_the_cpu(const c10::OperatorHandle &op, c10::DispatchKeySet, torch::jit::Stack *stack) {
  use_the_device();
  begin_operator(op.schema().name());
  std::optional<DrawsFromTheDevice> draws;
  if (op.hasTag(at::Tag::nondeterministic_seeded))
    draws.emplace();
  CallOnCpu().call(op, *stack);
}

Tensor empty(c10::SymIntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
             std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(sizes), &memory(), cuda_keys, at::dtype_or_default(dtype),
                                   format);
}

Tensor empty_strided(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides), &memory(),
                                           cuda_keys, at::dtype_or_default(dtype));
}

Tensor &copy(Tensor &self, const Tensor &source, bool) {
  use_the_device();
  if (!self.is_cuda())
    wait_for_kernels();
  on_cpu(self).copy_(on_cpu(source));
  return self;
}

Tensor as_strided(const Tensor &tensor, at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(tensor, sizes, strides, offset);
}

Tensor view(const Tensor &tensor, at::IntArrayRef sizes) {
  return at::native::view(tensor, sizes);
}

at::Scalar item(const Tensor &tensor) {
  use_the_device();
  wait_for_kernels();
  return on_cpu(tensor).item();
}

/// The CPU has no kernel that converts as well.
template <Tensor (*function)(const Tensor &, int64_t, bool)>
Tensor normalised(const Tensor &tensor, int64_t dim, bool half_to_float) {
  use_the_device();
  const Tensor same = on_cpu(tensor);
  return twin_of(function(half_to_float ? same.to(at::kFloat) : same, dim, false), the_device);
}

Tensor biased(const Tensor &tensor, const std::optional<Tensor> &bias) {
  return bias && bias->defined() ? tensor + *bias : tensor;
}

// Kernels that devices alone have, of one step of an LSTM and of a GRU.

std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor &of_input, const Tensor &of_hidden, const Tensor &cell,
                                             const std::optional<Tensor> &input_bias,
                                             const std::optional<Tensor> &hidden_bias) {
  const Tensor gates = biased(of_input, input_bias) + biased(of_hidden, hidden_bias);
  const auto parts = gates.chunk(4, 1);
  const Tensor next = parts[1].sigmoid() * cell + parts[0].sigmoid() * parts[2].tanh();
  return {parts[3].sigmoid() * next.tanh(), next, gates};
}

std::tuple<Tensor, Tensor> gru_cell(const Tensor &of_input, const Tensor &of_hidden, const Tensor &hidden,
                                    const std::optional<Tensor> &input_bias, const std::optional<Tensor> &hidden_bias) {
  const auto input = biased(of_input, input_bias).chunk(3, 1), state = biased(of_hidden, hidden_bias).chunk(3, 1);
  const Tensor fresh = (input[2] + (input[0] + state[0]).sigmoid() * state[2]).tanh();
  return {fresh + (input[1] + state[1]).sigmoid() * (hidden - fresh), of_input};
}

Tensor &set(Tensor &tensor, at::Storage storage, int64_t offset, at::IntArrayRef sizes, at::IntArrayRef strides) {
  tensor.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(storage));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset);
  return tensor;
}

Tensor &set_whole(Tensor &tensor, at::Storage storage) {
  const auto elements = static_cast<int64_t>(storage.nbytes() / tensor.itemsize());
  return set(tensor, std::move(storage), 0, {elements}, {1});
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>());
}

// Kernels for the operators that make memory, and for those that would call themselves without end.
TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("copy_", copy);
  library.impl("as_strided", as_strided);
  library.impl("view", view);
  library.impl("_local_scalar_dense", item);
  library.impl("_softmax", normalised<at::_softmax>);
  library.impl("_log_softmax", normalised<at::_log_softmax>);
  library.impl("_thnn_fused_lstm_cell", lstm_cell);
  library.impl("_thnn_fused_gru_cell", gru_cell);
  // Some devices have convolutions of their own, and LibTorch would choose among them.
  for (const char *name : {"convolution", "_convolution", "convolution_backward"})
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>());
  library.impl("set_.source_Storage", set_whole);
  library.impl("set_.source_Storage_storage_offset", set);
}

} // namespace
} // namespace pretended
