// The operators that compute each element from the elements at the same place: a row of a table each.
#pragma once

#include "backends/inductor_like/kernel_body.h"
#include "backends/inductor_like/straight_line.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify::inductor_like {

/// The type that an operator's operands are converted to before it is computed.
enum class Operands {
  Result,   ///< the type of its result
  Promoted, ///< the type that they promote to among themselves (comparisons)
  Boolean,
};

struct PointwiseRule {
  /// C++ with $0, $1 ... for the tensor and number operands, @f( for the function f, T for the type; # for whether the
  /// element lies past the last full loop (kernel_math.h).
  std::string expression;
  Operands operands = Operands::Result;
  std::vector<size_t> inputs;       ///< which of the node's inputs $0, $1 ... are
  std::vector<size_t> boolean = {}; ///< which of $0, $1 ... are conditions whatever the others are
};

/// Nothing for a node that is not pointwise or not in the table. `compute` is what the operands will be converted to.
std::optional<PointwiseRule> pointwise_rule(const Node *node, const Observation &seen, Element compute);

/// `expression` with its operands and functions filled in for the type.
std::string filled_in(const std::string &expression, const std::vector<std::string> &operands, Element type,
                      const std::string &past = "0");

/// True if evaluating the operator is expensive enough that a value with several readers is computed once.
bool is_heavy(const Node *node);

// Operators that are reductions, and the dimensions that they reduce.

struct ReductionRule {
  Fold fold = Fold::None;
  size_t dims = 0; ///< input with the dimensions; 0: all
  bool mean = false;
};

/// Nothing for an operator that is none, or not one of a kernel's.
std::optional<ReductionRule> reduction_rule(const Node *node);

/// Returns for each of the `rank` dimensions of the source whether it is reduced.
std::vector<bool> reduced_dims(const Node *node, const ReductionRule &rule, size_t rank, const Observation &seen);

} // namespace repro_minify::inductor_like
