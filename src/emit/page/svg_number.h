// Coordinates of a picture as text.
#pragma once
#include <array>
#include <cstdio>
#include <string>

namespace repro_minify {

/// With one digit behind the point: a tenth of a pixel.
inline std::string svg_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

} // namespace repro_minify
