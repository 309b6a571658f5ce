// The frame that every plot of a page has, in units of its SVG.
#pragma once
#include "core/number_text.h"

#include <nlohmann/json.hpp>

namespace repro_minify::plot {

inline constexpr double width = 640, height = 180, left = 46, right = 12, top = 10, bottom = 26;

/// Returns the values of the frame for a template of a plot: its size, its edges, and where the text below it stands.
inline nlohmann::json frame() {
  return {{"width", fixed_text(width, 1)},
          {"height", fixed_text(height, 1)},
          {"left", fixed_text(left, 1)},
          {"right", fixed_text(width - right, 1)},
          {"text_y", fixed_text(height - 8, 1)}};
}

} // namespace repro_minify::plot
