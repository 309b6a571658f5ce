// The last stages: a functional straight line to a plan. Pointwise operators and views are held as expressions and
// computed where they are needed in memory; reductions are loops of their own; all else runs as ATen.
#pragma once
#include "backends/inductor_like/plan.h"

#include <string>

namespace repro_minify::inductor_like {

struct LoweringOptions {
  bool pointwise = true;  ///< kernels for pointwise operators
  bool reductions = true; ///< kernels for reductions
  /// Several operators in one kernel. Without it each has its own, and rounds its result.
  bool fuse = true;
  bool constants = true;                ///< what depends on constants alone is not computed in each run
  bool emulate_precision_casts = false; ///< round to 16 bits after each operator inside a kernel too
  std::string inject;                   ///< relu-compile-error, relu-accuracy, ...; empty: nothing
};

/// The plan without its source.
Plan lower(const StraightLine &line, const LoweringOptions &options);

} // namespace repro_minify::inductor_like
