// A CUDA device for a LibTorch that has none. Its memory is the CPU's and its operators are the CPU's, so everything
// that only depends on where tensors are can be tested on any machine: LD_PRELOAD it into the program. A process that
// was forked from one that has used it cannot use it, as with CUDA. It has no kernels of its own, no streams and no
// timings, and knows dense tensors alone. $PRETENDED_CUDA may ask it to "leak" memory, to have a "late-error" in any
// process that synchronises a dozen times, or to be "crowded": other processes have all memory now and then.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/library.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

using at::Tensor;

const c10::Device the_device(c10::kCUDA, 0);
constexpr c10::DispatchKeySet cuda_keys(c10::DispatchKey::CUDA);

/// The file that $PRETENDED_CUDA_CONTEXTS names gets a byte for each process that uses the device. It is opened before
/// the process is confined.
const int contexts = [] {
  const char *path = getenv("PRETENDED_CUDA_CONTEXTS");
  return path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
}();

/// Called by every use of the device. Throws in a process that was forked from one that had used it, as CUDA does.
void use_the_device() {
  static const pid_t user = [] {
    if (contexts >= 0)
      (void)!write(contexts, ".", 1);
    return getpid();
  }();
  TORCH_CHECK(user == getpid(), "CUDA error: initialization error");
}

/// True if $PRETENDED_CUDA has this word in it.
bool is_asked_to(const char *word) {
  const char *words = getenv("PRETENDED_CUDA");
  return words && std::strstr(words, word);
}

/// How many bytes of leaks there are. Each counts as much as a large model.
std::atomic<std::int64_t> leaked = 0;

class Memory final : public c10::DeviceAllocator {
public:
  c10::DataPtr allocate(std::size_t bytes) override {
    use_the_device();
    is_full_ = is_asked_to("crowded") && ++allocations_ % 500 > 450;
    TORCH_CHECK_WITH(OutOfMemoryError, !is_full_, "CUDA out of memory. Tried to allocate ", bytes, " bytes");
    void *data = c10::alloc_cpu(bytes);
    std::memset(data, 0xAA, bytes);
    return {data, data, release, the_device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return release; }
  void copy_data(void *to, const void *from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr &, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    stats.allocated_bytes[0].current = leaked;
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override {
    constexpr std::size_t all = std::size_t{8} << 30;
    return {is_full_ ? 0 : all, all};
  }

private:
  std::uint64_t allocations_ = 0;
  bool is_full_ = false;

  static void release(void *data) {
    static int released = 0;
    if (++released % 200 == 0 && is_asked_to("leak"))
      leaked += std::int64_t{1} << 30;
    c10::free_cpu(data);
  }
};

Memory memory;
[[maybe_unused]] const bool has_memory = (c10::SetAllocator(c10::kCUDA, &memory), true);

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, the_device); }
  c10::DeviceType type() const override { return c10::kCUDA; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Device getDevice() const override { return the_device; }
  c10::Device exchangeDevice(c10::Device) const override { return the_device; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return stream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const override { return stream(); }
  void *getStreamNativeHandle(const c10::Stream) const override { return nullptr; }
  void synchronizeDevice(c10::DeviceIndex) const override {}
};
C10_REGISTER_GUARD_IMPL(CUDA, Guard);

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

  /// An argument itself, a view of one, or what is new.
  Tensor to_device(const Tensor &tensor) const {
    if (!tensor.defined() || !tensor.is_cpu())
      return tensor;
    for (const Pair &pair : pairs_)
      if (tensor.is_same(pair.of_cpu))
        return follow(pair);
    for (const Pair &pair : pairs_)
      if (tensor.storage().is_alias_of(pair.of_cpu.storage()))
        return at::native::as_strided_tensorimpl(pair.of_device, tensor.sizes(), tensor.strides(),
                                                 tensor.storage_offset());
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
  CallOnCpu().call(op, *stack);
}

Tensor empty(c10::SymIntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
             std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(sizes), &memory, cuda_keys, at::dtype_or_default(dtype),
                                   format);
}

Tensor empty_strided(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides), &memory,
                                           cuda_keys, at::dtype_or_default(dtype));
}

Tensor &copy(Tensor &self, const Tensor &source, bool) {
  use_the_device();
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
  return on_cpu(tensor).item();
}

/// The CPU has no kernel that converts as well.
template <Tensor (*function)(const Tensor &, int64_t, bool)>
Tensor normalised(const Tensor &tensor, int64_t dim, bool half_to_float) {
  use_the_device();
  const Tensor same = on_cpu(tensor);
  return twin_of(function(half_to_float ? same.to(at::kFloat) : same, dim, false), the_device);
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
  library.impl("set_.source_Storage", set_whole);
  library.impl("set_.source_Storage_storage_offset", set);
}

} // namespace

namespace at {

/// LibTorch looks for them by this name.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool hasCUDART() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  DeviceIndex current_device() const override { return 0; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  Device getDeviceFromPtr(void *) const override { return the_device; }
  const Generator &getDefaultGenerator(DeviceIndex) const override { return detail::getDefaultCPUGenerator(); }
  /// Asked to, raises what an earlier kernel has done, late, and from then on for ever.
  void deviceSynchronize(DeviceIndex) const override {
    static int calls = 0;
    TORCH_CHECK(++calls < 12 || !is_asked_to("late-error"), "CUDA error: an illegal memory access was encountered");
  }
};
REGISTER_CUDA_HOOKS(CUDAHooks);

} // namespace at
