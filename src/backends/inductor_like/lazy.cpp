#include "backends/inductor_like/lowered_values.h"

#include "backends/inductor_like/capture.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace repro_minify::inductor_like {

std::string converted(Body &body, const std::string &value, Element from, Element to) {
  const Element have = compute_element(from), want = compute_element(to);
  if (have == want)
    return value;
  if (want == Element::Bool)
    return body.local("bool", value + " != 0");
  if (want == Element::UInt8 && is_floating(have)) // by way of int64, as in ATen
    return body.local("uint8_t", "static_cast<uint8_t>(static_cast<int64_t>(" + value + "))");
  const std::string type = storage_type(want);
  return body.local(type, "static_cast<" + type + ">(" + value + ")");
}

std::string literal(const c10::Scalar &scalar, Element type) {
  const Element element = compute_element(type);
  if (element == Element::Bool)
    return scalar.to<bool>() ? "true" : "false";
  if (!is_floating(element)) {
    // A floating scalar for an integer tensor is truncated, as ATen does.
    if (scalar.isFloatingPoint() && !(std::abs(scalar.toDouble()) < 0x1p63))
      throw NotCovered("a number that no integer holds, for an integer tensor");
    const int64_t value = scalar.isFloatingPoint() ? static_cast<int64_t>(scalar.toDouble()) : scalar.to<int64_t>();
    const std::string text = value == std::numeric_limits<int64_t>::min() ? "(-9223372036854775807LL - 1)"
                             : value < 0                                  ? "(" + std::to_string(value) + "LL)"
                                                                          : std::to_string(value) + "LL";
    return "static_cast<" + std::string(storage_type(element)) + ">(" + text + ")";
  }
  const bool single = element == Element::Float32;
  const double value = scalar.toDouble();
  if (std::isnan(value))
    return single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
  if (std::isinf(value))
    return std::string(value < 0 ? "(-" : "(") + (single ? "__builtin_inff())" : "__builtin_inf())");
  std::ostringstream text;
  text.precision(17);
  text << value;
  std::string digits = text.str();
  if (digits.find_first_of(".e") == std::string::npos)
    digits += ".0";
  // In float32 a scalar is rounded once, from double.
  digits = single ? "static_cast<float>(" + digits + ")" : digits;
  return value < 0 || std::signbit(value) ? "(" + digits + ")" : digits;
}

Lazy viewed(const Lazy &source, std::vector<int64_t> sizes,
            std::function<std::vector<Index>(const std::vector<Index> &)> place) {
  return {std::move(sizes), source.dtype,
          [load = source.load, place = std::move(place)](Body &body, const std::vector<Index> &at) {
            return load(body, place(at));
          }};
}

Lazy broadcast(const Lazy &source, const std::vector<int64_t> &sizes) {
  if (source.sizes == sizes)
    return source;
  return viewed(source, sizes, [from = source.sizes](const std::vector<Index> &at) {
    std::vector<Index> indices;
    for (size_t d = 0; d < from.size(); ++d)
      indices.push_back(from[d] == 1 ? Index(0) : at[at.size() - from.size() + d]);
    return indices;
  });
}

Lazy reshaped(const Lazy &source, const std::vector<int64_t> &sizes) {
  if (source.sizes == sizes)
    return source;
  return viewed(source, sizes, [from = source.sizes, sizes](const std::vector<Index> &at) {
    return unflatten(flat_index(at, contiguous_strides(sizes)), from);
  });
}

Lazy cast(const Lazy &source, at::ScalarType dtype) {
  if (source.dtype == dtype)
    return source;
  return {source.sizes, dtype,
          [load = source.load, from = *element_of(source.dtype), to = *element_of(dtype)](
              Body &body, const std::vector<Index> &at) { return converted(body, load(body, at), from, to); }};
}

} // namespace repro_minify::inductor_like
