// Plots of the pages: the frame that all have, and how the errors of both sides against float64 grow along a graph.
#pragma once
#include "core/json.h"
#include "core/number_text.h"
#include "repro_minify/analysis.h"

#include <vector>

namespace repro_minify {
namespace plot {

/// The frame, in units of its SVG.
inline constexpr double width = 640, height = 180, left = 46, right = 12, top = 10, bottom = 26;

/// Returns the values of the frame for a template of a plot: its size, its edges, and where the text below it stands.
inline json frame() {
  return {{"width", fixed_text(width, 1)},
          {"height", fixed_text(height, 1)},
          {"left", fixed_text(left, 1)},
          {"right", fixed_text(width - right, 1)},
          {"text_y", fixed_text(height - 8, 1)}};
}

} // namespace plot

/// Returns the values for error_curve.svg.tpl: the root mean square error of eager and of the optimised side at each
/// value that has both, in dataflow order; null where fewer than two values have them. Rounding grows from value to
/// value in both curves; a wrong value is a step in one of them.
json error_curve_json(const std::vector<AnalysisRow> &rows);

} // namespace repro_minify
