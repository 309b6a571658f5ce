#include "core/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace repro_minify {
namespace {

template <typename Number> std::string shortest(Number value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return {text, result.ptr};
}

std::string with_a_point(const std::string &digits) {
  return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
}

} // namespace

std::string shortest_text(double value) {
  return shortest(value);
}

std::string shortest_text(float value) {
  return shortest(value);
}

std::string double_literal(double value) {
  return with_a_point(shortest(value));
}

std::string float_literal(float value) {
  return with_a_point(shortest(value));
}

std::string rounded_text(double value, int digits) {
  if (std::isnan(value))
    return "-";
  char text[64];
  const auto result = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
  return {text, result.ptr};
}

double rounded(double value, int digits) {
  if (!std::isfinite(value))
    return value;
  const std::string text = rounded_text(value, digits);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string fixed_text(double value, int digits) {
  char text[400]; // the largest double has 309 digits before the point
  const auto result = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
  return {text, result.ptr};
}

std::string padded_text(std::uint64_t value, std::size_t width, int base) {
  char text[64]; // of base 2
  const std::string digits(text, std::to_chars(text, text + sizeof text, value, base).ptr);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

} // namespace repro_minify
