// The test by which a repro tells that its failure shows: the rule in force, as far as it can be had from PyTorch
// alone, without a float64 run.
#pragma once
#include "repro_minify/repro.h"

#include <string>

namespace repro_minify {

struct Predicate {
  enum class Form {
    Close,     ///< not allclose within rtol and atol
    Rms,       ///< the root mean square of the difference is over `limit`
    Bound,     ///< an element is off by more than limit + rtol * max(1, |expected|)
    Exact,     ///< another bit, but that any NaN equals any other
    Equal,     ///< integers or bools that are not equal
    Direction, ///< not allclose within rtol and atol, nor of a cosine of `limit` or more
    Overlap,   ///< bools whose intersection over union is less than `limit`
  };
  Form form = Form::Close;
  double rtol = 0, atol = 0, limit = 0;
  bool equal_nan = true;
  bool relative_to_expected = false; ///< of the tolerance: as in assert_close; otherwise to what is found, as in `same`
  bool as_it_is = false;             ///< the results are compared in their own dtype; otherwise as float64
  bool floating_only = false;        ///< --ignore-non-fp
  bool quantised = false;            ///< they have to be dequantised first
  std::string why;                   ///< one line for a comment
};
/// For a failure of the kind accuracy, nan or gradient.
Predicate predicate_of(const ReproFacts &facts);

} // namespace repro_minify
