#include "program/input_spec.h"

#include "program/compute.h"
#include "repro_minify/program.h"
#include "repro_minify/run_settings.h"

#include <ATen/ATen.h>

#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace repro_minify {
namespace {

struct Spec {
  at::ScalarType dtype;
  std::vector<int64_t> sizes;
  std::optional<std::pair<double, double>> range;
};

/// More than any machine here can hold.
constexpr int64_t most_bytes = int64_t{1} << 42;

class SpecParser {
public:
  explicit SpecParser(const std::string &text) : text_(text) {}

  Spec parse() const {
    const auto open = text_.find('['), close = text_.find(']');
    if (open == std::string::npos || close == std::string::npos || close < open)
      throw bad("no sizes in brackets");
    Spec spec{dtype(text_.substr(0, open)), sizes(text_.substr(open + 1, close - open - 1)), std::nullopt};
    int64_t bytes = static_cast<int64_t>(c10::elementSize(spec.dtype));
    for (const int64_t size : spec.sizes)
      if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > most_bytes)
        throw bad("more elements than fit in memory");
    if (const std::string rest = text_.substr(close + 1); !rest.empty())
      spec.range = range(rest, spec.dtype);
    return spec;
  }

private:
  UserError bad(const std::string &why) const {
    return UserError("--input '" + text_ + "': " + why +
                     "; write dtype[sizes], as in f32[2,3,32,32] or i64[4,16]@0:50 (from 0 to 49)");
  }

  at::ScalarType dtype(const std::string &name) const {
    static const std::map<std::string, at::ScalarType> dtypes = {
        {"f16", at::kHalf}, {"bf16", at::kBFloat16}, {"f32", at::kFloat},        {"f64", at::kDouble},
        {"u8", at::kByte},  {"i8", at::kChar},       {"i16", at::kShort},        {"i32", at::kInt},
        {"i64", at::kLong}, {"bool", at::kBool},     {"c64", at::kComplexFloat}, {"c128", at::kComplexDouble}};
    const auto found = dtypes.find(name);
    if (found == dtypes.end())
      throw bad("unknown dtype '" + name + "' (known: f16 bf16 f32 f64 u8 i8 i16 i32 i64 bool c64 c128)");
    return found->second;
  }

  /// The whole text, but spaces around it, as a number.
  template <typename T> T number(std::string_view text, const std::string &what) const {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw bad("'" + std::string(text) + "' is no " + what);
    return value;
  }

  std::vector<int64_t> sizes(std::string_view text) const {
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
  std::pair<double, double> range(std::string_view text, at::ScalarType dtype) const {
    const auto colon = text.find(':');
    if (text[0] != '@' || colon == std::string_view::npos)
      throw bad("'" + std::string(text) + "' is no range");
    const auto low = number<double>(text.substr(1, colon - 1), "number"),
               high = number<double>(text.substr(colon + 1), "number");
    if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(high - low))
      throw bad("a range has finite ends");
    if (!(low < high))
      throw bad("the range is empty");
    if (at::isComplexType(dtype) || dtype == at::kBool)
      throw bad("numbers of that dtype have no range");
    if (at::isIntegralType(dtype, false))
      require_integers(low, high, dtype);
    return {low, high};
  }

  void require_integers(double low, double high, at::ScalarType dtype) const {
    if (low != std::floor(low) || high != std::floor(high))
      throw bad("a range of integers has integers as its ends");
    const auto [least, most] = limits(dtype);
    if (low < least || high - 1 > most || high > 0x1p63 - 1024)
      throw bad("the range does not fit into that dtype");
  }

  static std::pair<double, double> limits(at::ScalarType dtype) {
    switch (dtype) {
    case at::kByte:
      return {0, 255};
    case at::kChar:
      return {-128, 127};
    case at::kShort:
      return {-32768, 32767};
    case at::kInt:
      return {-0x1p31, 0x1p31 - 1};
    default:
      return {-0x1p63, 0x1p63};
    }
  }

  const std::string &text_;
};

at::Tensor make_tensor(const Spec &spec, bool requires_grad) {
  at::Tensor tensor;
  if (at::isIntegralType(spec.dtype, /*includeBool=*/false)) {
    const auto range = spec.range.value_or(std::make_pair(0.0, 10.0));
    tensor = at::randint(static_cast<int64_t>(range.first), static_cast<int64_t>(range.second), spec.sizes, spec.dtype);
  } else if (spec.dtype == at::kBool) {
    tensor = at::randint(0, 2, spec.sizes, at::kBool);
  } else if (spec.range) {
    tensor = (at::rand(spec.sizes, at::kDouble) * (spec.range->second - spec.range->first) + spec.range->first)
                 .to(spec.dtype);
  } else {
    tensor = at::randn(spec.sizes, at::isComplexType(spec.dtype) ? spec.dtype : at::kFloat).to(spec.dtype);
  }
  if (requires_grad && (tensor.is_floating_point() || tensor.is_complex()))
    tensor.set_requires_grad(true);
  return tensor;
}

} // namespace

c10::IValue inputs_from_specs(const std::vector<std::string> &texts, uint64_t seed, bool requires_grad) {
  std::vector<Spec> specs;
  for (const auto &text : texts)
    specs.push_back(SpecParser(text).parse());
  try {
    return compute_in_child(
        [&](Child &) {
          seed_cpu(seed);
          std::vector<c10::IValue> tensors;
          tensors.reserve(specs.size());
          for (const auto &spec : specs)
            tensors.emplace_back(make_tensor(spec, requires_grad));
          return c10::ivalue::Tuple::create(std::move(tensors));
        },
        generous_limits());
  } catch (const std::exception &error) {
    throw UserError("--input: the inputs cannot be made: " + first_sentence(error.what()));
  }
}

} // namespace repro_minify
