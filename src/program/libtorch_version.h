#pragma once
#include <string>

namespace repro_minify {

/// Returns the version of the LibTorch that is loaded ("2.14.0"). A program serves every patch version of the one that
/// it was compiled for, so that TORCH_VERSION may be another.
std::string libtorch_version();

// LibTorch's CUDA part, loaded where a device asks for it.

/// Loads libtorch_cuda.so from the folder of the LibTorch that this process runs with, which registers its kernels.
/// Nothing calls it by name, and loading takes a second, so no program is linked with it: one that was built against a
/// LibTorch for the CPU alone uses CUDA too, and on the CPU none pays for it. Returns why it cannot be loaded; empty if
/// it is loaded, something else has registered CUDA, or there is none. To be called before LibTorch is first asked
/// about CUDA: what it finds then stays.
std::string load_cuda_library();

} // namespace repro_minify
