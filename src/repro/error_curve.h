// How the errors of both sides against float64 grow along a graph, as a plot.
#pragma once
#include "repro_minify/analysis.h"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace repro_minify {

/// Returns the values for error_curve.svg.tpl: the root mean square error of eager and of the optimised side at each
/// value that has both, in dataflow order; null where fewer than two values have them. Rounding grows from value to
/// value in both curves; a wrong value is a step in one of them.
nlohmann::json error_curve_json(const std::vector<AnalysisRow> &rows);

} // namespace repro_minify
