#include "codegen/helpers.h"

#include <cctype>
#include <iterator>

namespace repro_minify {
namespace {

/// What kernels call, by name; each may call those before it.
struct Helper {
  const char *name;
  const char *text;
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
template <typename T> static inline T floor_quotient(T a, T b) { return T(a / b - ((a % b != 0) && ((a < 0) != (b < 0)))); }
)"},
    {"floor_remainder",
     R"(template <typename T> static inline T floor_remainder(T a, T b) { const T r = T(a % b); return T(r != 0 && ((r < 0) != (b < 0)) ? r + b : r); }
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
  T quotient = (a - r) / b;
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
};

} // namespace

std::string helpers_of(const std::string &kernels) {
  std::string text;
  for (size_t k = std::size(helpers); k-- > 0;)
    if ((kernels + text).find(helpers[k].name) != std::string::npos)
      text = helpers[k].text + text;
  return text;
}

bool mentions(const std::string &text, const std::string &word) {
  const auto is_part = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (!(at > 0 && is_part(at - 1)) && !is_part(at + word.size()))
      return true;
  return false;
}

} // namespace repro_minify
