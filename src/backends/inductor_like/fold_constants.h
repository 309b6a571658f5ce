// A stage: what depends on constants alone is computed while compiling.
#pragma once
#include "backends/inductor_like/straight_line.h"

namespace repro_minify::inductor_like {

StraightLine fold_constants(const StraightLine &line);

} // namespace repro_minify::inductor_like
