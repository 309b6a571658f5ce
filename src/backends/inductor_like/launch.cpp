#include "backends/inductor_like/launch.h"

#include "backends/inductor_like/codegen/cuda_kernel.h"
#include "backends/inductor_like/codegen/cuda_library.h"
#include "backends/inductor_like/codegen/library.h"

#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace repro_minify::inductor_like {
namespace {

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
