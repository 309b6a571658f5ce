// Operators that are reductions, and the dimensions that they reduce.
#pragma once
#include "backends/inductor_like/codegen/body.h"
#include "backends/inductor_like/straight_line.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace repro_minify::inductor_like {

struct ReductionRule {
  Fold fold = Fold::None;
  size_t dims = 0; ///< input with the dimensions; 0: all
  bool mean = false;
};

/// Nothing for an operator that is none, or not one of a kernel's.
std::optional<ReductionRule> reduction_rule(const torch::jit::Node *node);

/// Returns for each of the `rank` dimensions of the source whether it is reduced.
std::vector<bool> reduced_dims(const torch::jit::Node *node, const ReductionRule &rule, size_t rank,
                               const Observation &seen);

} // namespace repro_minify::inductor_like
