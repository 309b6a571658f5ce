// A stage: what depends on constants alone is computed while compiling.
#pragma once
#include "backends/inductor_like/straight_line.h"

#include <set>

namespace repro_minify::inductor_like {

StraightLine fold_constants(const StraightLine &line);

/// Inputs that are constant, and every value that depends on such alone.
std::set<const torch::jit::Value *> constant_values(const StraightLine &line);

} // namespace repro_minify::inductor_like
