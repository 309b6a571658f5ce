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

} // namespace

std::string shortest_text(double value) {
  return shortest(value);
}

std::string shortest_text(float value) {
  return shortest(value);
}

std::string rounded_text(double value, int digits) {
  if (std::isnan(value))
    return "-";
  char text[64];
  const auto result = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
  return {text, result.ptr};
}

} // namespace repro_minify
