// The words that go with a Verdict: how much was compiled, and what the rule in force lets pass.
#pragma once
#include "core/json.h"
#include "repro_minify/backend.h"
#include "repro_minify/check.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

// Where a leaf's largest error is.

/// Returns its indices, [2, 1], as all that is written has them; null where no element shows it.
json worst_position_json(const LeafReport &leaf);

// How much of a program a backend compiled, in words.

/// "compiled: 2 operators; not compiled: aten::sort, aten::cat 3x (why)". Names are as the program has them.
std::string coverage_text(const Coverage &coverage);

// The differences that the comparison rule in force accepts and a person may not, in words.

struct LetPass {
  std::string text;   ///< empty where no such value is known
  std::string remedy; ///< the options that take it for a failure
};

/// "output[1] differs, nearer to float64 than eager", or "output differs by up to 18, and holds no floating-point
/// numbers": PyTorch's `same` takes float64 for the truth, allows whole numbers a relative tolerance, and skips bools.
/// "output differs by up to 0.08, and its RMSE against float64 is 0.03 where eager's is 0.02": eager is no better.
/// "gradients differ, which are those of a mean of 256 elements, and within the tolerance because they are small": see
/// sum_tolerance(). "output has strides [5, 1], and eager's has [1, 6]". Names are as the program has them.
LetPass let_pass(const Verdict &verdict);

/// Returns a tolerance by which a gradient is wrong that passes, and would not with PyTorch's tolerance if it began at
/// the sum of the results: the check's begins at their mean, as PyTorch's does, which makes it smaller by their number
/// of elements. The largest such, so that no rounding fails by it. Nothing where no gradient is wrong so.
std::optional<double> sum_tolerance(const Verdict &verdict);

/// True if one of whole numbers or bools differs, and the rule in force lets that pass: no rounding may explain it.
bool lets_whole_numbers_pass(const Verdict &verdict);

// Which compared value a failure shows in. Internal to src/check and what is above it.

/// The leaves of what a Signature's `where` names: outputs, gradients or state.
const std::vector<LeafReport> &leaves_at(const Verdict &verdict, const std::string &where);

/// True if the expected value is of an integer dtype or of bools.
bool is_whole(const LeafReport &leaf);

/// The first leaf of results, gradients and state for which `is_wanted` says yes, and its name: "output[1]", "gradient
/// of" and a path. Null, with an empty name, where there is none.
std::pair<std::string, const LeafReport *> first_leaf(const Verdict &verdict,
                                                      const std::function<bool(const LeafReport &)> &is_wanted);

/// The failures that a leaf shows; `where` as in a Signature.
std::vector<Signature> signatures_of(const LeafReport &leaf, const std::string &where, CompareRule rule);

/// True if this is a failure of wrong values, all of which are of another dtype as well: a search that kept the values
/// wrong could end where the dtype is right, or at what overflows in eager alone.
bool comes_of_dtypes(const Verdict &verdict, const Signature &failure);

/// The first leaf that shows this failure, else the first in that place that is wrong; null where none is.
const LeafReport *leaf_showing(const Verdict &verdict, const Signature &failure);

} // namespace repro_minify
