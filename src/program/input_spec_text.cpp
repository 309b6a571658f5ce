#include "program/input_spec_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace repro_minify {
namespace {

/// More than any machine here can hold.
constexpr int64_t most_bytes = int64_t{1} << 42;

enum class NumberKind { Integer, Floating, Other };

struct Dtype {
  const char *name;
  int64_t bytes;
  NumberKind kind;
  double least = 0, most = 0; ///< of integers
};
constexpr Dtype dtypes[] = {{"f16", 2, NumberKind::Floating},
                            {"bf16", 2, NumberKind::Floating},
                            {"f32", 4, NumberKind::Floating},
                            {"f64", 8, NumberKind::Floating},
                            {"u8", 1, NumberKind::Integer, 0, 255},
                            {"i8", 1, NumberKind::Integer, -128, 127},
                            {"i16", 2, NumberKind::Integer, -32768, 32767},
                            {"i32", 4, NumberKind::Integer, -0x1p31, 0x1p31 - 1},
                            {"i64", 8, NumberKind::Integer, -0x1p63, 0x1p63},
                            {"bool", 1, NumberKind::Other},
                            {"c64", 8, NumberKind::Other},
                            {"c128", 16, NumberKind::Other}};

class SpecParser {
public:
  explicit SpecParser(const std::string &text) : text_(text) {}

  InputSpec parse() const {
    const auto open = text_.find('['), close = text_.find(']');
    if (open == std::string::npos || close == std::string::npos || close < open)
      throw bad("no sizes in brackets");
    const Dtype &known = dtype(text_.substr(0, open));
    InputSpec spec{known.name, sizes(text_.substr(open + 1, close - open - 1)), std::nullopt};
    int64_t bytes = known.bytes;
    for (const int64_t size : spec.sizes)
      if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > most_bytes)
        throw bad("more elements than fit in memory");
    if (const std::string rest = text_.substr(close + 1); !rest.empty())
      spec.range = range(rest, known);
    return spec;
  }

private:
  static std::invalid_argument bad(const std::string &why) {
    return std::invalid_argument(why + "; write dtype[sizes], as in f32[2,3,32,32] or i64[4,16]@0:50 (from 0 to 49)");
  }

  static const Dtype &dtype(const std::string &name) {
    const auto *found =
        std::find_if(std::begin(dtypes), std::end(dtypes), [&](const Dtype &d) { return d.name == name; });
    if (found == std::end(dtypes))
      throw bad("unknown dtype '" + name + "' (known: f16 bf16 f32 f64 u8 i8 i16 i32 i64 bool c64 c128)");
    return *found;
  }

  /// The whole text, but spaces around it, as a number.
  template <typename T> static T number(std::string_view text, const std::string &what) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw bad("'" + std::string(text) + "' is no " + what);
    return value;
  }

  static std::vector<int64_t> sizes(std::string_view text) {
    std::vector<int64_t> sizes;
    if (text.find_first_not_of(' ') == std::string_view::npos)
      return sizes;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      sizes.push_back(number<int64_t>(text.substr(begin, end - begin), "size"));
      if (sizes.back() < 0)
        throw bad("a size is negative");
      begin = end + 1;
    }
    if (sizes.size() > 64)
      throw bad("more than 64 dimensions");
    return sizes;
  }

  /// "@0:50", the end excluded.
  static std::pair<double, double> range(std::string_view text, const Dtype &dtype) {
    const auto colon = text.find(':');
    if (text[0] != '@' || colon == std::string_view::npos)
      throw bad("'" + std::string(text) + "' is no range");
    const auto low = number<double>(text.substr(1, colon - 1), "number"),
               high = number<double>(text.substr(colon + 1), "number");
    if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(high - low))
      throw bad("a range has finite ends");
    if (!(low < high))
      throw bad("the range is empty");
    if (dtype.kind == NumberKind::Other)
      throw bad("numbers of that dtype have no range");
    if (dtype.kind == NumberKind::Integer)
      require_integers(low, high, dtype);
    return {low, high};
  }

  static void require_integers(double low, double high, const Dtype &dtype) {
    if (low != std::floor(low) || high != std::floor(high))
      throw bad("a range of integers has integers as its ends");
    if (low < dtype.least || high - 1 > dtype.most || high > 0x1p63 - 1024)
      throw bad("the range does not fit into that dtype");
  }

  const std::string &text_;
};

} // namespace

InputSpec read_input_spec(const std::string &text) {
  return SpecParser(text).parse();
}

} // namespace repro_minify
