// CUDA kernels made into code for a device: compiled once, kept by a hash of everything that the result depends on,
// loaded. NVRTC and the driver are found when the program runs; building needs nothing of CUDA.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <cstdlib>
#include <dlfcn.h>

namespace repro_minify {

#include "backends/inductor_like/codegen/embedded/nvrtc.inc"

#include "backends/inductor_like/codegen/embedded/cuda_driver.inc"

/// The two files above, for repro.cpp.
extern const char *const nvrtc_text;
extern const char *const cuda_driver_text;

/// Compiles, or takes what it once made from the cache, and loads. Throws std::runtime_error with NVRTC's first error.
std::unique_ptr<CudaModule> build_cuda_kernels(const Nvrtc &nvrtc, std::shared_ptr<const CudaDriver> driver, int device,
                                               const std::string &source, const std::vector<std::string> &names,
                                               uint64_t seed);

} // namespace repro_minify
