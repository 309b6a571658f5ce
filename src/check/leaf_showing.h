// Which compared value a failure shows in. Internal to src/check and what is above it.
#pragma once

#include "repro_minify/check.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

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
