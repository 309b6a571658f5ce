#include "program/formula.h"

#include "core/number_text.h"

#include <ATen/ATen.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace repro_minify {
namespace {

constexpr std::string_view fill = "full:";

/// The V of "full:V".
std::optional<double> filled_with(const std::string &formula) {
  if (!formula.starts_with(fill))
    return std::nullopt;
  double value = 0;
  std::from_chars(formula.data() + fill.size(), formula.data() + formula.size(), value);
  return value;
}

/// Returns the number as C++ source.
std::string number_source(double value, at::ScalarType dtype) {
  if (std::isnan(value))
    return "NAN";
  if (std::isinf(value))
    return value > 0 ? "INFINITY" : "-INFINITY";
  if (dtype == at::kBool)
    return value != 0 ? "true" : "false";
  std::string text = number_text(value);
  if (at::isFloatingType(dtype) && text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

/// "randn:7" and "rand:7", in two.
struct Seeded {
  std::string function;
  uint64_t seed;
};

std::optional<Seeded> seeded(const std::string &formula) {
  const auto colon = formula.find(':');
  if (colon == std::string::npos || formula.starts_with(fill))
    return std::nullopt;
  return Seeded{formula.substr(0, colon), std::stoull(formula.substr(colon + 1))};
}

/// Beyond it a double skips integers.
constexpr double largest_integer = 1e15;

bool holds(at::ScalarType dtype, double value) {
  if (at::isFloatingType(dtype))
    return !std::isfinite(value) || dtype == at::kDouble || dtype == at::kBFloat16 ||
           std::abs(value) <= (dtype == at::kHalf ? 65504.0 : std::numeric_limits<float>::max());
  if (value != std::trunc(value) || std::abs(value) > largest_integer) // NaN is unequal to itself
    return false;
  switch (dtype) {
  case at::kBool:
    return value == 0 || value == 1;
  case at::kByte:
    return value >= 0 && value <= 255;
  case at::kChar:
    return std::abs(value) <= 127;
  case at::kShort:
    return std::abs(value) <= 32767;
  case at::kInt:
    return std::abs(value) <= std::numeric_limits<int32_t>::max();
  case at::kLong:
    return true;
  default:
    return false;
  }
}

/// Half precision is drawn in float32 and rounded.
bool is_half(at::ScalarType dtype) {
  return dtype == at::kHalf || dtype == at::kBFloat16;
}

int64_t product(const std::vector<int64_t> &sizes) {
  int64_t result = 1;
  for (auto size : sizes)
    result *= size;
  return result;
}

} // namespace

std::string number_text(double value) {
  const auto narrow = static_cast<float>(value); // "0.1" says enough of what is a float
  return static_cast<double>(narrow) == value ? shortest_text(narrow) : shortest_text(value);
}

std::string full_formula(double value) {
  return std::string(fill) + number_text(value);
}

std::optional<at::Tensor> tensor_from_formula(const std::string &formula, const std::vector<int64_t> &sizes,
                                              at::ScalarType dtype) {
  if (at::isQIntType(dtype))
    return std::nullopt;
  if (formula == "zeros")
    return at::zeros(sizes, dtype);
  if (formula == "ones")
    return at::ones(sizes, dtype);
  if (formula == "arange") {
    // A count makes sense for numbers that can hold it.
    if (dtype == at::kBool || at::isComplexType(dtype) || product(sizes) < 2 || product(sizes) > 100)
      return std::nullopt;
    return at::arange(product(sizes), dtype).reshape(sizes);
  }
  if (const auto value = filled_with(formula)) {
    if (at::isComplexType(dtype) || !holds(dtype, *value))
      return std::nullopt;
    return at::full(sizes, *value, dtype);
  }
  if (const auto draw = seeded(formula)) {
    if (!at::isFloatingType(dtype) && !at::isComplexType(dtype))
      return std::nullopt;
    const auto generator = at::detail::createCPUGenerator(draw->seed);
    const auto options = at::TensorOptions().dtype(is_half(dtype) ? at::kFloat : dtype);
    return (draw->function == "randn" ? at::randn(sizes, generator, options) : at::rand(sizes, generator, options))
        .to(dtype);
  }
  return std::nullopt;
}

std::string dtype_source(at::ScalarType dtype) {
  return std::string("at::k") + c10::toString(dtype);
}

std::string sizes_source(const std::vector<int64_t> &sizes) {
  std::string text = "{";
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "}";
}

std::string formula_source(const std::string &formula, const std::vector<int64_t> &sizes, at::ScalarType dtype) {
  if (formula == "arange")
    return "at::arange(" + std::to_string(product(sizes)) + ", " + dtype_source(dtype) + ")" +
           (sizes.size() == 1 ? "" : ".reshape(" + sizes_source(sizes) + ")");
  if (const auto value = filled_with(formula))
    return "at::full(" + sizes_source(sizes) + ", " + number_source(*value, dtype) + ", " + dtype_source(dtype) + ")";
  if (const auto draw = seeded(formula)) {
    std::string source = "at::" + draw->function + "(" + sizes_source(sizes) + ", at::detail::createCPUGenerator(" +
                         std::to_string(draw->seed) + ")";
    if (dtype != at::kFloat && !is_half(dtype))
      source += ", at::TensorOptions().dtype(" + dtype_source(dtype) + ")";
    source += ")";
    return is_half(dtype) ? source + ".to(" + dtype_source(dtype) + ")" : source;
  }
  return "at::" + formula + "(" + sizes_source(sizes) + (dtype == at::kFloat ? "" : ", " + dtype_source(dtype)) + ")";
}

} // namespace repro_minify
