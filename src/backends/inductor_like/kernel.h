// A kernel: one loop nest that fills buffers element by element, or reduces into them. Written as C++ that needs no
// header but the prelude.
#pragma once

#include "backends/inductor_like/kernel_body.h"

#include <set>
#include <string>
#include <vector>

namespace repro_minify {

struct Kernel {
  struct Output {
    BufferRef buffer; ///< contiguous, of the kernel's sizes
    Loader value;     ///< takes the kernel's indices, and then those of `folded`
    Fold fold = Fold::None;
    std::vector<int64_t> folded = {}; ///< sizes of what is reduced
    Element accumulator = Element::Float32;
    bool is_read = true; ///< by others than this kernel: it has to be in memory
  };
  std::vector<int64_t> sizes;
  std::vector<Output> outputs;
};

struct KernelSource {
  std::string text;
  std::vector<BufferRef> arguments; ///< in the order of the function's array of pointers, or of its parameters
  unsigned blocks = 0;              ///< CUDA: of how many threads, see below; 0: nothing to compute
};

/// `extern "C" void NAME(void *const *p, int threads)`.
KernelSource write_kernel(const std::string &name, const Kernel &kernel);
/// True if the kernel's outputs can be computed in one loop: none reads another's buffer at a different place.
bool is_one_loop(const Kernel &kernel);
/// The buffers a kernel reads that it does not make itself.
std::set<int> reads(const Kernel &kernel);
/// How many local variables the computation takes: how much work it is.
size_t cost(const std::vector<int64_t> &sizes, const Loader &value);

/// The kernels for a file that calls them itself: `static void NAME`, as wide as that file is compiled.
std::string static_kernels(std::string kernels);
/// The types and functions that these kernels, of write_kernel, use.
std::string kernel_helpers(const std::string &kernels);
/// The kernels as a file that compiles on its own.
std::string kernel_file(const std::string &kernels);

// The same kernels as CUDA C++, for NVRTC, which has no headers. Where a kernel folds long rows a block of threads
// computes each place together; otherwise each thread computes places of its own.

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
