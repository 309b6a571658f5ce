// CUDA kernels in repro.cpp: text that NVRTC compiles when it runs, so that it needs LibTorch alone.
#pragma once
#include "backends/inductor_like/plan.h"

#include <string>
#include <vector>

namespace repro_minify::inductor_like {

/// Returns the headers that cuda_repro_kernels() needs.
const std::vector<std::string> &cuda_repro_includes();

/// At file scope: `compiled_kernels()`, which throws what NVRTC has against them, `launch(name, blocks, tensors)`, and
/// `kernels_device`.
std::string cuda_repro_kernels(const Plan &plan);

} // namespace repro_minify::inductor_like
