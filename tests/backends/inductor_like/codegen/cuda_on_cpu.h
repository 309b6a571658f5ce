// Runs generated CUDA kernels without a GPU: compiled as C++ behind a few definitions. The threads of a block are
// fibres of one thread, which go from one __syncthreads to the next in a shuffled order; so whatever depends on an
// order that CUDA does not promise shows as another result.
#pragma once
#include "backends/inductor_like/kernel.h"
#include "backends/inductor_like/kernel_body.h"

#include <string>

namespace repro_minify {

inline const char *const cuda_definitions = R"(
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <vector>
#include <ucontext.h>

#define __global__
#define __shared__ static
#define __launch_bounds__(threads)
struct Dimensions { unsigned x; };
static Dimensions threadIdx, blockIdx, gridDim;

template <typename To, typename From> static To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
static unsigned __float_as_uint(float value) { return same_bits<unsigned>(value); }
static float __uint_as_float(unsigned word) { return same_bits<float>(word); }
static float __int_as_float(int word) { return same_bits<float>(word); }
static double __longlong_as_double(long long word) { return same_bits<double>(word); }

namespace on_cpu {
struct Fibre {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(1 << 16);
  bool ended = false;
};
static std::vector<Fibre> fibres(THREADS);
static ucontext_t scheduler;
static unsigned running;
static const std::function<void()> *kernel;

static void run_fibre() {
  (*kernel)();
  fibres[running].ended = true;
}

static void run_block(std::mt19937 &random) {
  for (auto &fibre : fibres) {
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack.data();
    fibre.context.uc_stack.ss_size = fibre.stack.size();
    fibre.context.uc_link = &scheduler;
    fibre.ended = false;
    makecontext(&fibre.context, run_fibre, 0);
  }
  std::vector<unsigned> order(fibres.size());
  std::iota(order.begin(), order.end(), 0u);
  for (size_t ended = 0; ended < fibres.size();) {
    std::shuffle(order.begin(), order.end(), random);
    for (const unsigned thread : order) {
      threadIdx.x = running = thread;
      swapcontext(&scheduler, &fibres[thread].context);
    }
    ended = 0;
    for (const auto &fibre : fibres)
      ended += fibre.ended;
    if (ended != 0 && ended != fibres.size()) {
      fprintf(stderr, "some threads of a block end where others wait\n");
      abort();
    }
  }
}

static void launch(unsigned blocks, unsigned seed, const std::function<void()> &called) {
  std::mt19937 random(seed);
  kernel = &called;
  gridDim.x = blocks;
  std::vector<unsigned> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  for (const unsigned block : order) {
    blockIdx.x = block;
    run_block(random);
  }
}
} // namespace on_cpu

static void __syncthreads() { swapcontext(&on_cpu::fibres[on_cpu::running].context, &on_cpu::scheduler); }
)";

/// `extern "C" void on_cpu_NAME(void *const *p, int seed)`: all blocks of the kernel, or at most `most_blocks` that
/// share the work.
inline std::string cuda_launcher(const std::string &name, const KernelSource &kernel, unsigned most_blocks) {
  std::string operands;
  for (size_t k = 0; k < kernel.arguments.size(); ++k)
    operands += std::string(k ? ", " : "") + "static_cast<" + storage_type(kernel.arguments[k].element) + " *>(p[" +
                std::to_string(k) + "])";
  return "extern \"C\" void on_cpu_" + name + "(void *const *p, int seed) {\n  on_cpu::launch(" +
         std::to_string(std::min(kernel.blocks, most_blocks)) + ", static_cast<unsigned>(seed), [=] { " + name + "(" +
         operands + "); });\n}\n";
}

/// A file that the C++ compiler takes.
inline std::string cuda_file_on_cpu(const std::string &kernels, const std::string &launchers) {
  return "#define THREADS " + std::to_string(cuda_threads) + "\n" + cuda_definitions + cuda_kernel_file(kernels) +
         launchers;
}

} // namespace repro_minify
