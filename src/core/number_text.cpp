#include "core/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

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

constexpr int all_digits = 17;         // of a double
constexpr double in_full_below = 1e10; // a whole number, which is then no longer than others

bool is_whole(double value) {
  return std::abs(value) < in_full_below && value == std::trunc(value);
}

std::string text_of(double value, int digits) {
  if (!std::isfinite(value))
    return shortest_text(value);
  return is_whole(value) ? fixed_text(value, 0) : rounded_text(value, digits);
}

/// True if the difference of the two numbers, once they are rounded, is right to a tenth.
bool shows_difference(double one, double other, int digits) {
  const double real = one - other, shown = rounded(one, digits) - rounded(other, digits);
  return std::abs(shown - real) <= std::abs(real) / 10;
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

std::string memory_text(std::uint64_t bytes) {
  const std::uint64_t mebibytes = bytes >> 20;
  return mebibytes > 0 ? std::to_string(mebibytes) + " MiB" : std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string padded_text(std::uint64_t value, std::size_t width, int base) {
  char text[64]; // of base 2
  const std::string digits(text, std::to_chars(text, text + sizeof text, value, base).ptr);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

std::pair<std::string, std::string> differing_texts(double one, double other, int digits) {
  if (std::isfinite(one) && std::isfinite(other))
    while (digits < all_digits && !shows_difference(one, other, digits))
      ++digits;
  return {text_of(one, digits), text_of(other, digits)};
}

} // namespace repro_minify
