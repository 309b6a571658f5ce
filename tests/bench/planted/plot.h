// A picture of the grid: queries against the nodes of the program.
#pragma once
#include "bench/planted/measure.h"

#include <string>
#include <vector>

namespace repro_minify::bench {

/// One SVG with a panel per shape ("scattered 5"), both axes logarithmic, a line per tool and one for the bound.
void write_plot(const std::string &path, const std::vector<Measurement> &measurements,
                const std::vector<std::string> &shapes);

} // namespace repro_minify::bench
