// A plan's kernels compiled, loaded, and ready to be started where its tensors are.
#pragma once
#include "backends/inductor_like/plan.h"

#include <string>

namespace repro_minify::inductor_like {

/// Why no kernel can be made for the device; empty if one can. The CPU is not asked about.
std::string no_kernels_because(c10::Device device);

/// Throws std::runtime_error with the first error of the compiler's. On CUDA kernels run on the device's current
/// stream.
Launch build(const Plan &plan);

} // namespace repro_minify::inductor_like
