#include "support/number_text.h"

#include <charconv>
#include <cmath>

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

} // namespace repro_minify
