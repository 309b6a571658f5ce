// The same kernels as CUDA C++, for NVRTC, which has no headers. Where a kernel folds long rows a block of threads
// computes each place together; otherwise each thread computes places of its own.
#pragma once

#include "backends/inductor_like/kernel.h"

#include <string>

namespace repro_minify {

/// Threads of every block: a power of two, which the folding of a block relies on.
constexpr unsigned cuda_threads = 256;

/// `extern "C" __global__ void NAME(const float *b0, float *b1, ...)`. What it computes does not depend on the number
/// of blocks, nor on the order in which they run.
KernelSource write_cuda_kernel(const std::string &name, const Kernel &kernel);

/// The kernels as a file that compiles on its own, as NVRTC is given no header: before them stand the types, the
/// conversions and the folding of a block that they use.
std::string cuda_kernel_file(const std::string &kernels);

/// Kernels say __builtin_sqrtf and math_expf, which are the C++ compiler's and SLEEF's; to CUDA they are sqrtf and
/// expf, which are also what ATen's kernels call there.
std::string in_cuda(std::string text);

} // namespace repro_minify
