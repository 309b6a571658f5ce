#include "backends/inductor_like/kernel_math.h"

#include <cstddef>
#include <iterator>
#include <string>

namespace repro_minify {
namespace {

/// A function that kernels call, by name; each may call those before it.
struct Helper {
  const char *name;
  const char *text;
  const char *on_cuda = nullptr; ///< where it is another
};
constexpr Helper helpers[] = {
    {"smaller", R"(template <typename T> static inline T smaller(T a, T b) { return a < b ? a : b; }
)"},
    {"highest", R"(template <typename T> static inline T highest() {
  return sizeof(T) == 1 && T(-1) > T(0) ? T(-1) : sizeof(T) == 1 ? T(0x7f) : sizeof(T) == 2 ? T(0x7fff)
         : sizeof(T) == 4 ? T(0x7fffffff) : T(0x7fffffffffffffff);
}
template <> inline bool highest<bool>() { return true; }
)"},
    {"lowest", R"(template <typename T> static inline T lowest() { return T(T(-1) > T(0) ? 0 : -highest<T>() - 1); }
template <> inline bool lowest<bool>() { return false; }
)"},
    {"chosen", R"(// Both are computed, so that the loop can be vectorised: a branch around a call could not be.
template <typename T> struct Bits { typedef uint32_t type; };
template <> struct Bits<double> { typedef uint64_t type; };
template <typename T> static inline T chosen(bool first, T a, T b) {
  typename Bits<T>::type x, y;
  memcpy(&x, &a, sizeof(T));
  memcpy(&y, &b, sizeof(T));
  const auto mask = static_cast<typename Bits<T>::type>(-static_cast<int64_t>(first));
  x = (x & mask) | (y & ~mask);
  memcpy(&a, &x, sizeof(T));
  return a;
}
)",
     "template <typename T> static inline T chosen(bool first, T a, T b) { return first ? a : b; }\n"},
    {"largest_of", R"(// As torch.maximum and minimum: NaN wins.
template <typename T> static inline T largest_of(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
)"},
    {"smallest_of",
     R"(template <typename T> static inline T smallest_of(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; }
)"},
    {"sign_of", R"(template <typename T> static inline T sign_of(T a) { return T((a > T(0)) - (a < T(0))); }
)"},
    {"absolute", R"(template <typename T> static inline T absolute(T a) { return a < T(0) ? T(-a) : a; }
)"},
    {"floor_quotient", R"(// Integer division and remainder that round towards minus infinity.
// The processor traps where the lowest number is divided by -1.
template <typename T> static inline T floor_quotient(T a, T b) {
  if (T(-1) < T(0) && b == T(-1))
    return T(-a);
  return T(a / b - ((a % b != 0) && ((a < 0) != (b < 0))));
}
)"},
    {"floor_remainder",
     R"(template <typename T> static inline T floor_remainder(T a, T b) {
  if (T(-1) < T(0) && b == T(-1))
    return T(0);
  const T r = T(a % b);
  return T(r != 0 && ((r < 0) != (b < 0)) ? r + b : r);
}
)"},
    {"float_remainder", R"(// The remainder with the divisor's sign, from the one with the dividend's.
template <typename T> static inline T float_remainder(T b, T r) {
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}
)"},
    {"float_floor_quotient", R"(// As torch.floor_divide: (a - a mod b) / b, made exact; r is a mod b.
template <typename T> static inline T float_floor_quotient(T a, T b, T r) {
  if (b == 0)
    return a / b;
  const T all = a / b, most = T(__builtin_inf());
  const bool overflows = (all == most || all == -most) && a != most && a != -most;
  T quotient = (overflows ? a : a - r) / b;
  if (r != 0 && ((b < 0) != (r < 0)))
    quotient -= T(1);
  if (quotient == 0)
    return T(__builtin_copysign(0.0, a / b));
  const T down = T(__builtin_floor(quotient));
  return quotient - down > T(0.5) ? down + T(1) : down;
}
)"},
    {"integer_power", R"(template <typename T> static inline T integer_power(T base, T exponent) {
  if (exponent < 0)
    return T(base == 1 ? 1 : base == T(-1) ? (exponent % 2 ? -1 : 1) : 0);
  T result = 1;
  for (; exponent; exponent = T(exponent / 2), base = T(base * base))
    if (exponent % 2)
      result = T(result * base);
  return result;
}
)"},
    {"moments_of",
     R"(// Mean and squared differences of many numbers, as ATen's normalisations have them: Welford's algorithm in
// lanes of 32 bytes, sixteen steps in a row, what they give joined in pairs, and then the lanes one by one with the
// numbers that do not fill all lanes. Where a product is added in one rounding (fma), ATen's compiler has made it so.
template <typename T> static inline T fused(T a, T b, T c) {
  return sizeof(T) == 4 ? T(__builtin_fmaf(a, b, c)) : T(__builtin_fma(a, b, c));
}
template <typename T> struct Moments {
  static constexpr int lanes = 32 / sizeof(T), row = 16;
  int64_t count = 0;
  T mean[lanes] = {}, squares[lanes] = {};
  void join(const Moments &more) {
    const int64_t all = count + more.count;
    const T share = all ? T(more.count) / T(all) : T(0), old = T(count);
    for (int k = 0; k < lanes; ++k) {
      const T away = more.mean[k] - mean[k], part = away * share;
      mean[k] += part;
      squares[k] = fused<T>(part, away * old, squares[k] + more.squares[k]);
    }
    count = all;
  }
  template <typename Value> void take(Value value, int64_t first, int64_t steps) {
    count = steps;
    for (int64_t step = 0; step < steps; ++step) {
      T x[lanes];
      for (int k = 0; k < lanes; ++k)
        x[k] = value(first + step * lanes + k);
      const T share = T(1) / T(step + 1);
      for (int k = 0; k < lanes; ++k) {
        const T away = x[k] - mean[k];
        mean[k] = fused<T>(away, share, mean[k]);
        squares[k] = fused<T>(away, x[k] - mean[k], squares[k]);
      }
    }
  }
};
constexpr int depth_of(int64_t rows, int depth = 1) {
  return int64_t(1) << depth < rows ? depth_of(rows, depth + 1) : depth;
}
template <typename T, int64_t count, typename Value> static inline void moments_of(Value value, T &mean, T &squares) {
  using M = Moments<T>;
  constexpr int64_t steps = count / M::lanes, rows = (steps + M::row - 1) / M::row;
  constexpr int depth = depth_of(rows);
  M stack[depth];
  for (int64_t k = 0; k < rows; ++k) {
    const int64_t begin = k * M::row;
    M next;
    next.take(value, begin * M::lanes, smaller<int64_t>(M::row, steps - begin));
    stack[0].join(next);
    for (int level = 1; level < depth && ((k + 1) >> (level - 1)) % 2 == 0; ++level) {
      stack[level].join(stack[level - 1]);
      stack[level - 1] = M();
    }
  }
  for (int level = 1; level < depth; ++level)
    stack[0].join(stack[level]);
  int64_t seen = 0;
  mean = squares = 0;
  for (int64_t k = steps * M::lanes; k < count; ++k) {
    const T x = value(k), away = x - mean;
    mean += away / T(++seen);
    squares += away * (x - mean);
  }
  for (int k = 0; k < M::lanes; ++k) {
    const int64_t all = seen + steps;
    const T share = all ? T(steps) / T(all) : T(0), away = stack[0].mean[k] - mean;
    mean = fused<T>(share, away, mean);
    squares += fused<T>(away * away * share, T(seen), stack[0].squares[k]);
    seen = all;
  }
}
)"},
};

} // namespace

std::string helpers_of(const std::string &kernels, bool on_cuda) {
  std::string text;
  for (size_t k = std::size(helpers); k-- > 0;)
    if ((kernels + text).find(helpers[k].name) != std::string::npos)
      text = (on_cuda && helpers[k].on_cuda ? helpers[k].on_cuda : helpers[k].text) + text;
  return text;
}

} // namespace repro_minify
