#include "backends/inductor_like/codegen/cuda_helpers.h"

#include "backends/inductor_like/codegen/cuda_kernel.h"
#include "backends/inductor_like/codegen/helpers.h"
#include "backends/inductor_like/codegen/vector_math.h"

#include <utility>

namespace repro_minify {
namespace {

constexpr const char *integers = R"(#ifdef __CUDACC_RTC__ // without headers
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
#endif

)";

// Bits in memory, floats in between. Rounding is to nearest, ties to even, whatever the architecture has instructions
// for.
constexpr const char *cuda_bfloat16 = R"(struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  explicit bfloat16(float value) {
    const uint32_t word = __float_as_uint(value);
    const uint32_t rounded = (word + 0x7fff + ((word >> 16) & 1)) >> 16;  // to nearest, ties to even
    bits = uint16_t((word & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
  }
  explicit operator float() const { return __uint_as_float(uint32_t(bits) << 16); }
};
)";

constexpr const char *float16_type = R"(struct float16 {
  uint16_t bits;
  float16() = default;
  explicit float16(float value) {  // to nearest, ties to even
    const uint32_t word = __float_as_uint(value), size = word & 0x7fffffff;
    uint32_t half = 0;
    if (size > 0x7f800000) {
      half = 0x7e00;  // not a number
    } else if (size >= 0x477ff000) {
      half = 0x7c00;  // 65520 and more are infinite
    } else if (size >= 0x38800000) {
      half = (size - 0x38000000 + 0xfff + ((size >> 13) & 1)) >> 13;
    } else if (size >= 0x33000000) {  // a multiple of 2^-24, of which 2^-25 is the half
      const uint32_t fraction = (size & 0x7fffff) | 0x800000, shift = 126 - (size >> 23);
      const uint32_t rest = fraction & ((1u << shift) - 1), middle = 1u << (shift - 1);
      half = fraction >> shift;
      half += rest > middle || (rest == middle && (half & 1));
    }
    bits = uint16_t(((word >> 16) & 0x8000) | half);
  }
  explicit operator float() const {
    const uint32_t sign = uint32_t(bits & 0x8000) << 16, size = bits & 0x7fff;
    return __uint_as_float(sign | (size >= 0x7c00  ? 0x7f800000 | (size & 0x3ff) << 13
                                   : size >= 0x400 ? (size << 13) + 0x38000000
                                                   : __float_as_uint(float(size) / 16777216.0f)));
  }
};
)";

/// The tree is the same in each run, so the result is too.
std::string block_fold() {
  const std::string threads = std::to_string(cuda_threads), half = std::to_string(cuda_threads / 2);
  return R"(// All threads of the block fold what each of them has collected, in the same order every time.
template <typename T, typename Fold> static inline T folded_by_block(T mine, Fold fold) {
  __shared__ T parts[)" +
         threads + R"(];
  parts[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = )" +
         half + R"(; half > 0; half /= 2) {
    if (threadIdx.x < half)
      parts[threadIdx.x] = fold(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  const T all = parts[0];
  __syncthreads();  // all have read it before it is used again
  return all;
}
)";
}

} // namespace

std::string cuda_helpers(const std::string &kernels) {
  const bool variants =
      kernels.find("looped_") != std::string::npos || kernels.find("vectorized_") != std::string::npos;
  return integers + (variants ? in_cuda(plain_math_variants()) : "") +
         std::string(mentions(kernels, "bfloat16") ? cuda_bfloat16 : "") +
         (mentions(kernels, "float16") ? float16_type : "") + in_cuda(helpers_of(kernels, /*on_cuda=*/true)) +
         (mentions(kernels, "folded_by_block") ? block_fold() : "");
}

std::string in_cuda(std::string text) {
  static const std::pair<std::string, std::string> spellings[] = {
      {"__builtin_inff()", "__int_as_float(0x7f800000)"},
      {"__builtin_inf()", "__longlong_as_double(0x7ff0000000000000)"},
      {"__builtin_nanf(\"\")", "__int_as_float(0x7fc00000)"},
      {"__builtin_nan(\"\")", "__longlong_as_double(0x7ff8000000000000)"},
      {"__builtin_", ""},
      {"math_", ""}};
  for (const auto &[here, there] : spellings)
    for (size_t at = 0; (at = text.find(here, at)) != std::string::npos; at += there.size())
      text.replace(at, here.size(), there);
  return text;
}

} // namespace repro_minify
