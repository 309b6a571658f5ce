// The code that CUDA kernels use: types, conversions, and the folding of a block. NVRTC is given no header.
#pragma once
#include <string>

namespace repro_minify {

/// Those that the kernels mention.
std::string cuda_helpers(const std::string &kernels);

/// Kernels say __builtin_sqrtf and math_expf, which are the C++ compiler's and SLEEF's; to CUDA they are sqrtf and
/// expf, which are also what ATen's kernels call there.
std::string in_cuda(std::string text);

} // namespace repro_minify
