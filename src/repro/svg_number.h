// Coordinates of a picture as text.
#pragma once

#include "core/number_text.h"

namespace repro_minify {

/// With one digit behind the point: a tenth of a pixel.
inline std::string svg_number(double value) {
  return fixed_text(value, 1);
}

} // namespace repro_minify
