// A stage: composite operators become the simple ones they are made of, written as TorchScript. 16-bit operands are
// computed in float32 and rounded once, as in TorchInductor's decompositions.
#pragma once
#include "backends/inductor_like/straight_line.h"

namespace repro_minify::inductor_like {

StraightLine decompose(const StraightLine &line);

} // namespace repro_minify::inductor_like
