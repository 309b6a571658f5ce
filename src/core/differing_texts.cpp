#include "core/differing_texts.h"

#include "core/number_text.h"

#include <cmath>
#include <string>
#include <utility>

namespace repro_minify {
namespace {

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

std::pair<std::string, std::string> differing_texts(double one, double other, int digits) {
  if (std::isfinite(one) && std::isfinite(other))
    while (digits < all_digits && !shows_difference(one, other, digits))
      ++digits;
  return {text_of(one, digits), text_of(other, digits)};
}

} // namespace repro_minify
