// Kernels made into machine code: compiled once, kept by a hash of everything that the result depends on, loaded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace repro_minify {

using KernelFunction = void (*)(void *const *pointers, int threads);

class KernelLibrary {
public:
  KernelLibrary(void *handle, const std::vector<std::string> &names);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary &) = delete;
  KernelLibrary &operator=(const KernelLibrary &) = delete;
  KernelFunction operator[](const std::string &name) const { return functions_.at(name); }

private:
  void *handle_;
  std::map<std::string, KernelFunction> functions_;
};

/// Returns the flags that are left of those that TorchInductor compiles its CPU kernels with
/// (torch/_inductor/cpp_builder.py, 2.13.0) once its -fno-* have undone most of -ffast-math: optimised for this
/// machine's instruction set, no contraction, no reordering but where a reduction says so. (-ffast-math itself would
/// make the linker add code that flushes denormal numbers to zero in the whole process, eager included.)
const std::vector<std::string> &kernel_flags();

/// Compiles and loads. What it made is kept in kernel_cache_folder(), by a hash of source, flags, compiler, instruction
/// set and seed. Throws std::runtime_error with the compiler's first error, NoAnswer where the compiler could not do
/// its work.
std::shared_ptr<KernelLibrary> build_kernels(const std::string &source, const std::vector<std::string> &names,
                                             uint64_t seed);

// CUDA kernels made into code for a device: compiled once, kept by a hash of everything that the result depends on,
// loaded. NVRTC and the driver are found when the program runs; building needs nothing of CUDA.

#include "backends/inductor_like/kernel_nvrtc.inc"

#include "backends/inductor_like/kernel_cuda_driver.inc"

/// The two files above, for repro.cpp.
extern const char *const kernel_nvrtc_text;
extern const char *const kernel_cuda_driver_text;

/// Compiles, or takes what it once made from the cache, and loads. Throws std::runtime_error with NVRTC's first error.
std::unique_ptr<CudaModule> build_cuda_kernels(const Nvrtc &nvrtc, std::shared_ptr<const CudaDriver> driver, int device,
                                               const std::string &source, const std::vector<std::string> &names,
                                               uint64_t seed);

} // namespace repro_minify
