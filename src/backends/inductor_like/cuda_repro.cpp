#include "backends/inductor_like/stages.h"

#include "backends/inductor_like/kernel.h"
#include "backends/inductor_like/kernel_library.h"
#include "core/escape.h"

namespace repro_minify::inductor_like {
namespace {

std::string quoted_names(const Plan &plan) {
  std::string names;
  for (const auto &step : plan.steps)
    if (const auto *kernel = std::get_if<KernelStep>(&step))
      names += (names.empty() ? "\"" : ", \"") + kernel->name + "\"";
  return names;
}

} // namespace

const std::vector<std::string> &cuda_repro_includes() {
  static const std::vector<std::string> includes = {
      "c10/core/impl/VirtualGuardImpl.h", "cstdlib", "dlfcn.h", "map", "memory", "stdexcept", "string_view"};
  return includes;
}

std::string cuda_repro_kernels(const Plan &plan) {
  return "// ---- The kernels that inductor-like generated.\nstatic const char* const kernels = " +
         raw_string("\n" + cuda_kernel_file(plan.source)) + ";\n// ---- End of the kernels.\n\n" + kernel_nvrtc_text +
         "\n" + kernel_cuda_driver_text + "\nstatic const at::Device kernels_device(\"" + plan.device.str() + R"(");

static const CudaModule& compiled_kernels() {
  static const CudaModule module = [] {
    const Nvrtc nvrtc(Nvrtc::libraries());
    const auto driver = std::make_shared<CudaDriver>();
    const std::string architecture = nvrtc.architecture(driver->capability(kernels_device.index()));
    return CudaModule(driver, kernels_device.index(), nvrtc.compile(kernels, architecture), {)" +
         quoted_names(plan) + R"(});
  }();
  return module;
}

static void launch(const char* kernel, unsigned blocks, const std::vector<at::Tensor>& tensors) {
  std::vector<void*> pointers;
  for (const at::Tensor& tensor : tensors)
    pointers.push_back(tensor.data_ptr());
  const c10::impl::VirtualGuardImpl guard(kernels_device.type());
  void* stream = guard.getStream(kernels_device).native_handle();
  compiled_kernels().launch(kernel, blocks, )" +
         std::to_string(cuda_threads) + R"(, stream, pointers);
}
)";
}

} // namespace repro_minify::inductor_like
