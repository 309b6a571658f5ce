// A CUDA device for a LibTorch that has none. Its memory is the CPU's and its operators are the CPU's, so everything
// that only depends on where tensors are can be tested on any machine: preload.c brings it into the program. A process
// that was forked from one that has used it cannot use it, as with CUDA. It has no kernels of its own, no streams and
// no timings, and knows dense tensors alone. What may go wrong on it: faults.cpp and memory.cpp.
#include "device.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace pretended {
namespace {

/// The file that $PRETENDED_CUDA_CONTEXTS names gets a byte for each process that uses the device. It is opened before
/// the process is confined.
const int contexts = [] {
  const char *path = getenv("PRETENDED_CUDA_CONTEXTS");
  return path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
}();

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

/// After the same seed it draws what the CPU's does; what that one has drawn it does not know.
struct DeviceGenerator final : at::CPUGeneratorImpl {
  DeviceGenerator() {
    device_ = the_device;
    key_set_ = cuda_keys;
  }
};

const at::Generator &generator() {
  static const at::Generator of_the_device = at::make_generator<DeviceGenerator>();
  return of_the_device;
}

void swap_generators() {
  auto &device = *generator().get<DeviceGenerator>();
  auto &cpu = *at::detail::getDefaultCPUGenerator().get<at::CPUGeneratorImpl>();
  const auto engine = device.engine();
  const auto next_float = device.next_float_normal_sample();
  const auto next_double = device.next_double_normal_sample();
  device.set_engine(cpu.engine());
  device.set_next_float_normal_sample(cpu.next_float_normal_sample());
  device.set_next_double_normal_sample(cpu.next_double_normal_sample());
  cpu.set_engine(engine);
  cpu.set_next_float_normal_sample(next_float);
  cpu.set_next_double_normal_sample(next_double);
}

} // namespace

DrawsFromTheDevice::DrawsFromTheDevice() {
  swap_generators();
}

DrawsFromTheDevice::~DrawsFromTheDevice() {
  swap_generators();
}

void use_the_device() {
  static const pid_t user = [] {
    if (contexts >= 0)
      (void)!write(contexts, ".", 1);
    return getpid();
  }();
  TORCH_CHECK(user == getpid(), "CUDA error: initialization error");
}

} // namespace pretended

/// For Python, whose own functions for CUDA are not there.
extern "C" void pretended_cuda_seed(std::uint64_t seed) {
  at::Generator generator = pretended::generator();
  generator.set_current_seed(seed);
}

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
  Device getDeviceFromPtr(void *) const override { return pretended::the_device; }
  const Generator &getDefaultGenerator(DeviceIndex) const override { return pretended::generator(); }
  void deviceSynchronize(DeviceIndex) const override { pretended::end_run(); }
};
REGISTER_CUDA_HOOKS(CUDAHooks);

} // namespace at
