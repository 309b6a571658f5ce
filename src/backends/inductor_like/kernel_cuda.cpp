
#include "backends/inductor_like/kernel.h"
#include "backends/inductor_like/kernel_body.h"
#include "backends/inductor_like/kernel_index.h"
#include "backends/inductor_like/kernel_math.h"
#include "backends/inductor_like/kernel_strips.h"
#include "core/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

constexpr int64_t longest_row_of_a_thread = 64; // one after the other, still accurate and not slow
constexpr int64_t piece_of_a_thread = 64;
constexpr int64_t most_blocks = 65536; // beyond, they do several places each
// The largest `int`, less the step of a loop. (Divisions of 64 bits take many times longer.)
constexpr int64_t most_in_int = (int64_t{1} << 31) - most_blocks * cuda_threads - 1;

/// `flat`, which counts all elements that the loops run over, as the loops' variables.
std::vector<std::string> variables(const Loops &loops, const std::string &flat, const std::string &type) {
  std::vector<std::string> statements;
  int64_t inside = 1;
  for (size_t k = loops.groups.size(); k-- > 0;) {
    const auto &group = loops.groups[k];
    std::string value = flat;
    if (inside > 1)
      value += " / " + std::to_string(inside);
    if (k > 0)
      value += " % " + std::to_string(group.extent);
    statements.push_back("const " + type + " " + loops.name(group) + " = " + value + ";");
    inside *= group.extent;
  }
  return statements;
}

class CudaWriter {
public:
  explicit CudaWriter(const Kernel &kernel) : kernel_(kernel), by_block_(has_long_rows(kernel)), loops_({}, "") {
    auto [loops, body] = merged_loops(Loops(kernel.sizes, "i"), [&](const Loops &over) { return make_body(over); });
    loops_ = std::move(loops);
    body_ = std::move(body);
    if (!fits_into_int()) {
      index_type_ = "int64_t";
      body_ = make_body(loops_);
    }
  }

  KernelSource function(const std::string &name) const {
    KernelSource source;
    std::string parameters;
    const auto parameter = [&](int id, Element element, const char *constness) {
      parameters += std::string(parameters.empty() ? "" : ", ") + constness + storage_type(element) +
                    " *__restrict__ b" + std::to_string(id);
      source.arguments.push_back({id, element});
    };
    for (const auto &[id, element] : body_.loaded())
      parameter(id, element, "const ");
    for (const auto &[id, element] : body_.stored())
      parameter(id, element, "");
    const int64_t places = product(kernel_.sizes);
    const int64_t blocks = by_block_ ? places : (places + cuda_threads - 1) / cuda_threads;
    source.blocks = static_cast<unsigned>(std::min(blocks, most_blocks));
    source.text = in_cuda("extern \"C\" __global__ void __launch_bounds__(" + std::to_string(cuda_threads) + ") " +
                          name + "(" + parameters + ") {\n" + loop(places) + "}\n");
    return source;
  }

private:
  static bool has_long_rows(const Kernel &kernel) {
    return std::any_of(kernel.outputs.begin(), kernel.outputs.end(), [](const Kernel::Output &output) {
      return output.fold != Fold::None && product(output.folded) > longest_row_of_a_thread;
    });
  }

  /// True if every number that is computed to find a place fits into an `int`.
  bool fits_into_int() const {
    const auto &places = body_.places();
    return product(kernel_.sizes) <= most_in_int &&
           std::all_of(kernel_.outputs.begin(), kernel_.outputs.end(),
                       [](const Kernel::Output &output) { return product(output.folded) <= most_in_int; }) &&
           std::all_of(places.begin(), places.end(),
                       [](const Index &place) { return place.largest_on_the_way() <= most_in_int; });
  }

  std::string loop(int64_t places) const {
    const std::string threads = std::to_string(cuda_threads); // all blocks' threads are counted in 32 bits
    const std::string first = by_block_ ? "blockIdx.x" : "blockIdx.x * " + threads + " + threadIdx.x";
    const std::string step = by_block_ ? "gridDim.x" : "gridDim.x * " + threads;
    std::ostringstream out;
    out << "  for (" << index_type_ << " flat = " << first << "; flat < " << places << "; flat += " << step << ") {\n";
    for (const auto &statement : variables(loops_, "flat", index_type_))
      out << "    " << statement << "\n";
    for (const auto &statement : body_.statements())
      out << "    " << statement.text << "\n";
    out << "  }\n";
    return out.str();
  }

  Body make_body(const Loops &loops) const {
    Body body(by_block_ ? "if (threadIdx.x == 0) " : "");
    const auto at = loops.indices();
    const Index place = flat_index(at, contiguous_strides(kernel_.sizes));
    for (const auto &output : kernel_.outputs)
      body.put(output.buffer, place, output.fold == Fold::None ? output.value(body, at) : reduced(body, output, at),
               output.is_read);
    return body;
  }

  std::string reduced(Body &body, const Kernel::Output &output, const std::vector<Index> &at) const {
    const bool moments = output.fold == Fold::Mean || output.fold == Fold::Squares;
    return moments ? moment(body, output, at) : folded_row(body, output, at);
  }

  /// In two passes over the row: the mean, and then the squared differences from it.
  std::string moment(Body &body, const Kernel::Output &output, const std::vector<Index> &at) const {
    const std::string type = storage_type(output.accumulator), count = std::to_string(product(output.folded));
    Kernel::Output sum = output;
    sum.fold = Fold::Sum;
    std::string mean = body.local(type, folded_row(body, sum, at) + " / " + type + "(" + count + ")");
    if (output.fold == Fold::Mean)
      return mean;
    sum.value = [&](Body &inner, const std::vector<Index> &all) {
      const std::string value = output.value(inner, all);
      const std::string away = inner.local(type, "static_cast<" + type + ">(" + value + ") - " + mean);
      return inner.local(type, away + " * " + away);
    };
    return folded_row(body, sum, at);
  }

  /// The name of what all of the row folds to.
  std::string folded_row(Body &body, const Kernel::Output &output, const std::vector<Index> &at) const {
    const std::string sum = body.sum_name(), row = sum + "r", part = sum + "p";
    const std::string type = storage_type(output.accumulator);
    std::string value;
    const auto make_inner = [&](const Loops &loops) {
      std::vector<Index> all = at;
      for (const Index &index : loops.indices())
        all.push_back(index);
      Body inner = body.nested();
      value = inner.local(type, "static_cast<" + type + ">(" + output.value(inner, all) + ")");
      return inner;
    };
    const auto [loops, merged] = merged_loops(Loops(output.folded, row), make_inner);
    const Body inner = make_inner(loops); // `value` may be from loops that were not merged after all
    collect(body, inner, output, loops, sum, value);
    body.absorb(inner);
    body.add("const " + type + " " + sum + " = " + (by_block_ ? of_block(output.fold, type, part) : part) + ";");
    return sum;
  }

  /// One thread's part of the row. A long one is collected in pieces, which keeps a long sum accurate.
  void collect(Body &body, const Body &inner, const Kernel::Output &output, const Loops &loops, const std::string &sum,
               const std::string &value) const {
    const std::string type = storage_type(output.accumulator), row = sum + "r", part = sum + "p", piece = sum + "q";
    const int64_t length = product(output.folded), step = by_block_ ? cuda_threads : 1;
    const bool pieces = length > piece_of_a_thread * step;
    const std::string size = std::to_string(piece_of_a_thread * step), end = std::to_string(length);
    const std::string first = std::string(pieces ? sum + "b + " : "") + (by_block_ ? "threadIdx.x" : "0");
    const std::string last = pieces ? "smaller<" + index_type_ + ">(" + sum + "b + " + size + ", " + end + ")" : end;
    const std::string start = start_value(output.fold, output.accumulator), indent = pieces ? "  " : "";
    body.add(type + " " + part + " = " + start + ";");
    if (pieces) {
      body.add("for (" + index_type_ + " " + sum + "b = 0; " + sum + "b < " + end + "; " + sum + "b += " + size +
               ") {");
      body.add(indent + type + " " + piece + " = " + start + ";");
    }
    body.add(indent + "for (" + index_type_ + " " + row + " = " + first + "; " + row + " < " + last + "; " + row +
             " += " + std::to_string(step) + ") {");
    for (const auto &statement : variables(loops, row, index_type_))
      body.add(indent + "  " + statement);
    for (const auto &statement : inner.statements())
      body.add(indent + "  " + statement.text);
    body.add(indent + "  " + folded(output.fold, pieces ? piece : part, value) + ";");
    body.add(indent + "}");
    if (pieces) {
      body.add(indent + folded(output.fold, part, piece) + ";");
      body.add("}");
    }
  }

  static std::string of_block(Fold fold, const std::string &type, const std::string &part) {
    return "folded_by_block<" + type + ">(" + part + ", [](" + type + " a, " + type + " b) { " +
           folded(fold, "a", "b") + "; return a; })";
  }

  const Kernel &kernel_;
  bool by_block_;
  std::string index_type_ = "int";
  Loops loops_;
  Body body_;
};

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

KernelSource write_cuda_kernel(const std::string &name, const Kernel &kernel) {
  return CudaWriter(kernel).function(name);
}

std::string cuda_kernel_file(const std::string &kernels) {
  const bool variants =
      kernels.find("looped_") != std::string::npos || kernels.find("vectorized_") != std::string::npos;
  return integers + (variants ? in_cuda(plain_math_variants()) : "") +
         std::string(mentions(kernels, "bfloat16") ? cuda_bfloat16 : "") +
         (mentions(kernels, "float16") ? float16_type : "") + in_cuda(helpers_of(kernels, /*on_cuda=*/true)) +
         (mentions(kernels, "folded_by_block") ? block_fold() : "") + kernels;
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
