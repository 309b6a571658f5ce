// The values of the eager and the optimised side, as much of each as a person can look at: for pictures, never for a
// Verdict.
#pragma once
#include "repro_minify/check.h"
#include "repro_minify/sandbox.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

/// One tensor or number as eager and the optimised side have it.
struct ShownValue {
  std::vector<std::int64_t> sizes;
  bool is_complex = false;      ///< each element is two numbers, its real part and its imaginary one
  std::int64_t elements = 0;    ///< how many numbers there are
  std::vector<double> expected; ///< the first elements, row-major
  std::vector<double> found;    ///< the same of the optimised side; empty where it has none, or one of another shape
  /// The largest |expected - found| in each cell of a grid, row-major: the value as rows of its last dimension. NaN
  /// where one side alone is no number. Empty where `found` is.
  std::vector<double> errors;
  int rows = 0, columns = 0; ///< of the grid
  /// How many elements are off by 10^(first_decade + i) or more, and by less than ten times that.
  std::vector<std::int64_t> decades;
  int first_decade = 0;
  std::int64_t equal = 0;      ///< elements that are the same on both sides
  std::int64_t not_finite = 0; ///< elements that are no number, or infinite, on one side alone
};

struct BothSides {
  std::vector<ShownValue> outputs;   ///< the leaves of what forward returns, in their order
  std::vector<ShownValue> gradients; ///< in the order of Verdict::gradients
};

struct ShowOptions {
  int call = 1;      ///< which call of the optimised side is shown, 1-based
  int elements = 16; ///< how many of each value
  int cells = 24;    ///< the grid has no more rows and no more columns than this
};

/// Runs both sides once, in a sandbox child. Never throws for what the backend does: `found` is empty then.
BothSides both_sides(const ModuleFactory &factory, const std::shared_ptr<const Backend> &backend,
                     const CheckOptions &options, const ShowOptions &show, const Limits &limits);

} // namespace repro_minify
