#include "program/formula.h"

#include "core/number_text.h"
#include "core/text.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace repro_minify {
namespace {

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

at::Tensor drawn(const Formula &formula, const std::vector<int64_t> &sizes, at::ScalarType dtype) {
  const auto generator = at::detail::createCPUGenerator(formula.seed);
  const auto options = at::TensorOptions().dtype(is_half(dtype) ? at::kFloat : dtype);
  return (formula.kind == Formula::Kind::Randn ? at::randn(sizes, generator, options)
                                               : at::rand(sizes, generator, options))
      .to(dtype);
}

bool has_loops(at::ScalarType dtype) {
  switch (dtype) {
  case at::kFloat:
  case at::kDouble:
  case at::kHalf:
  case at::kBFloat16:
  case at::kByte:
  case at::kChar:
  case at::kShort:
  case at::kInt:
  case at::kLong:
  case at::kBool:
    return true;
  default:
    return false;
  }
}

/// Calls `visit` with the storage offset of each element, row-major.
template <typename Visit> void for_each_offset(const at::Tensor &tensor, Visit visit) {
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  std::vector<int64_t> index(sizes.size());
  int64_t offset = 0;
  for (int64_t count = tensor.numel(); count > 0; --count) {
    visit(offset);
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < sizes[d])
        break;
      offset -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
}

template <typename T> T saturated(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto lowest = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto highest = static_cast<double>(std::numeric_limits<T>::max());
    if (std::isnan(value))
      return 0;
    if (value >= highest)
      return std::numeric_limits<T>::max();
    return value <= lowest ? std::numeric_limits<T>::lowest() : static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

/// A new tensor, gaps between its elements included; `strides` empty is contiguous.
at::Tensor zeroed(at::IntArrayRef sizes, at::ScalarType dtype, const std::vector<int64_t> &strides) {
  at::Tensor tensor = strides.empty() ? at::empty(sizes, dtype) : at::empty_strided(sizes, strides, dtype);
  if (const std::size_t bytes = tensor.storage().nbytes(); bytes > 0) // nothing lies nowhere
    std::memset(tensor.storage().mutable_data(), 0, bytes);
  return tensor;
}

} // namespace

const char *function_name(Formula::Kind kind) {
  constexpr const char *names[] = {"zeros", "ones", "full", "arange", "randn", "rand"};
  return names[static_cast<size_t>(kind)];
}

bool is_drawn(const Formula &formula) {
  return formula.kind == Formula::Kind::Randn || formula.kind == Formula::Kind::Rand;
}

std::string to_string(const Formula &formula) {
  const std::string name = function_name(formula.kind);
  if (formula.kind == Formula::Kind::Full)
    return name + ":" + number_text(formula.number);
  return is_drawn(formula) ? name + ":" + std::to_string(formula.seed) : name;
}

std::string number_text(double value) {
  const auto narrow = static_cast<float>(value); // "0.1" says enough of what is a float
  return static_cast<double>(narrow) == value ? shortest_text(narrow) : shortest_text(value);
}

std::optional<at::Tensor> tensor_from_formula(const Formula &formula, const std::vector<int64_t> &sizes,
                                              at::ScalarType dtype) {
  const bool is_complex = at::isComplexType(dtype);
  if (at::isQIntType(dtype))
    return std::nullopt;
  switch (formula.kind) {
  case Formula::Kind::Zeros:
    return at::zeros(sizes, dtype);
  case Formula::Kind::Ones:
    return at::ones(sizes, dtype);
  case Formula::Kind::Full:
    if (is_complex || !holds(dtype, formula.number))
      return std::nullopt;
    return at::full(sizes, formula.number, dtype);
  case Formula::Kind::Arange:
    // A count makes sense for numbers that can hold it.
    if (dtype == at::kBool || is_complex || !has_loops(dtype) || product(sizes) < 2 || product(sizes) > 100)
      return std::nullopt;
    return at::arange(product(sizes), dtype).reshape(sizes);
  case Formula::Kind::Randn:
  case Formula::Kind::Rand:
    return (at::isFloatingType(dtype) && has_loops(dtype)) || is_complex ? std::optional(drawn(formula, sizes, dtype))
                                                                         : std::nullopt;
  }
  return std::nullopt;
}

Formula full_formula(double value) {
  return {.kind = Formula::Kind::Full, .number = std::strtod(number_text(value).c_str(), nullptr)};
}

std::string dtype_source(at::ScalarType dtype) {
  return std::string("at::k") + c10::toString(dtype);
}

std::string formula_source(const Formula &formula, const std::vector<int64_t> &sizes, at::ScalarType dtype) {
  const std::string function = std::string("at::") + function_name(formula.kind) + "(",
                    shape = "{" + joined_numbers(sizes) + "}";
  if (formula.kind == Formula::Kind::Arange)
    return function + std::to_string(product(sizes)) + ", " + dtype_source(dtype) + ")" +
           (sizes.size() == 1 ? "" : ".reshape(" + shape + ")");
  if (formula.kind == Formula::Kind::Full)
    return function + shape + ", " + number_source(formula.number, dtype) + ", " + dtype_source(dtype) + ")";
  if (!is_drawn(formula))
    return function + shape + (dtype == at::kFloat ? "" : ", " + dtype_source(dtype)) + ")";
  const std::string drawn = function + shape + ", at::detail::createCPUGenerator(" + std::to_string(formula.seed) + ")";
  if (is_half(dtype))
    return drawn + ").to(" + dtype_source(dtype) + ")";
  return drawn + (dtype == at::kFloat ? "" : ", at::TensorOptions().dtype(" + dtype_source(dtype) + ")") + ")";
}

bool is_dense(const at::Tensor &tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.has_storage() &&
         !tensor.is_quantized() && !tensor.is_neg() && !tensor.is_conj();
}

bool is_plain(const at::Tensor &tensor) {
  return is_dense(tensor) && has_loops(tensor.scalar_type());
}

std::optional<std::vector<double>> elements_of(const at::Tensor &tensor, int64_t most) {
  if (!is_plain(tensor) || tensor.numel() > most)
    return std::nullopt;
  std::vector<double> elements;
  elements.reserve(tensor.numel());
  AT_DISPATCH_ALL_TYPES_AND3(at::kHalf, at::kBFloat16, at::kBool, tensor.scalar_type(), "elements_of", [&] {
    const auto *data = tensor.const_data_ptr<scalar_t>();
    for_each_offset(tensor, [&](int64_t offset) { elements.push_back(static_cast<double>(data[offset])); });
  });
  return elements;
}

at::Tensor tensor_of(const std::vector<double> &elements, const std::vector<int64_t> &sizes, at::ScalarType dtype,
                     const std::vector<int64_t> &strides) {
  at::Tensor tensor = zeroed(sizes, dtype, strides);
  AT_DISPATCH_ALL_TYPES_AND3(at::kHalf, at::kBFloat16, at::kBool, dtype, "tensor_of", [&] {
    auto *data = tensor.mutable_data_ptr<scalar_t>();
    size_t next = 0;
    for_each_offset(tensor, [&](int64_t offset) { data[offset] = saturated<scalar_t>(elements.at(next++)); });
  });
  return tensor;
}

std::optional<at::Tensor> copy_of(const at::Tensor &tensor, int64_t most, const std::vector<int64_t> &strides) {
  if (!is_dense(tensor) || tensor.numel() > most)
    return std::nullopt;
  at::Tensor copy = zeroed(tensor.sizes(), tensor.scalar_type(), strides);
  const auto size = static_cast<int64_t>(tensor.element_size());
  std::vector<const char *> elements;
  for_each_offset(tensor, [&, from = static_cast<const char *>(tensor.const_data_ptr())](int64_t offset) {
    elements.push_back(from + offset * size);
  });
  std::size_t next = 0;
  for_each_offset(copy, [&, to = static_cast<char *>(copy.mutable_data_ptr())](int64_t offset) {
    std::memcpy(to + offset * size, elements[next++], static_cast<std::size_t>(size));
  });
  return copy;
}

std::vector<int64_t> strides_like(const at::Tensor &like, const std::vector<int64_t> &sizes) {
  if (like.is_contiguous() || like.dim() != static_cast<int64_t>(sizes.size()))
    return {};
  std::vector<size_t> inner_first(sizes.size());
  std::iota(inner_first.begin(), inner_first.end(), 0);
  std::stable_sort(inner_first.begin(), inner_first.end(), [&](size_t a, size_t b) {
    return like.stride(static_cast<int64_t>(a)) < like.stride(static_cast<int64_t>(b));
  });
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d : inner_first) {
    if (like.stride(static_cast<int64_t>(d)) == 0)
      continue; // expanded
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

} // namespace repro_minify
