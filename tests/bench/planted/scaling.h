// How the engine's questions and its own time grow with the program.
#pragma once
#include "bench/planted/measure.h"

#include <vector>

namespace repro_minify::bench {

/// Prints the table.
std::vector<Measurement> measure_scaling(const std::vector<int> &sizes, int seeds);

} // namespace repro_minify::bench
