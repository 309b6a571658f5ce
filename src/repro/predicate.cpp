#include "repro/repro_py.h"

#include "check/compare_tensors.h"
#include "check/verdict_text.h"
#include "core/number_text.h"

#include <algorithm>
#include <cmath>

namespace repro_minify {
namespace {

/// A value without a form has no rounding either.
at::ScalarType dtype_of(const std::optional<TensorForm> &form) {
  return form ? form->dtype : at::kLong;
}

bool has_rounding(at::ScalarType type) {
  return at::isFloatingType(type) || at::isComplexType(type);
}

/// Two digits are enough, rounded up.
double rounded_up(double value) {
  if (value == 0 || !std::isfinite(value))
    return value;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return rounded(std::ceil(value / unit - 1e-6) * unit, 2);
}

/// True if every result that is right would stay right under this limit.
bool others_are_below(const Verdict &verdict, double limit) {
  return !first_leaf(verdict, [&](const LeafReport &leaf) { return leaf.same && leaf.max_abs_error > limit; }).second;
}

Predicate close_by_dtype(const LeafReport &leaf, const CompareOptions &compare) {
  const at::ScalarType expected = dtype_of(leaf.ref_form), found = dtype_of(leaf.res_form);
  const Tolerances tolerances = close_tolerances(compare, expected, found);
  Predicate predicate;
  predicate.rtol = tolerances.rtol;
  predicate.atol = tolerances.atol;
  predicate.as_it_is = expected == found;
  predicate.relative_to_expected = true;
  predicate.why = compare.tol_by_dtype ? "What torch.testing.assert_close allows." : "";
  return predicate;
}

/// Rounding to 16 bits exceeds everyday tolerances. PyTorch's rule scales the tolerance by eager's own error against
/// float64, which is already measured. Where one element is off by far more than that, a quarter of its error is the
/// tolerance, and no mean is needed.
std::optional<Predicate> beyond_eagers_error(const LeafReport &leaf, const ReproFacts &facts) {
  const double tol = facts.check.compare.tol;
  const at::ScalarType type = dtype_of(leaf.ref_form);
  const bool sixteen_bits = type == at::kHalf || type == at::kBFloat16 || type == at::kComplexHalf;
  if (!(sixteen_bits || leaf.ref_error > tol) || std::isnan(leaf.ref_error) || std::isnan(leaf.multiplier))
    return std::nullopt;
  // The limit adds up how far the result may be from float64, and how far eager is from it.
  Predicate predicate;
  predicate.form = Predicate::Form::Rms;
  predicate.limit = rounded_up((leaf.multiplier + 1) * leaf.ref_error + tol / 10);
  predicate.why = "Far more than rounding: eager itself is off by " + rounded_text(leaf.ref_error, 2) +
                  ", measured against float64.";
  if (!others_are_below(facts.reduced, predicate.limit))
    return std::nullopt;
  constexpr double many = 16, part = 4;
  if (leaf.max_abs_error > many * predicate.limit) {
    Predicate plain;
    plain.atol = rounded(leaf.max_abs_error / part, 1);
    return plain;
  }
  // The result is at least res_error - ref_error away from eager, by the triangle inequality.
  const bool shows = leaf.res_error - leaf.ref_error > predicate.limit;
  return shows ? std::optional(predicate) : std::nullopt;
}

/// Every element by itself, against what is known of eager's own error.
Predicate bounded(const LeafReport &leaf, const CompareOptions &compare) {
  Predicate predicate;
  const double noise = std::isnan(leaf.ref_max_error) ? 0 : leaf.ref_max_error;
  predicate.rtol = predicate.atol = compare.tol;
  if (noise <= compare.tol && leaf.max_abs_error > compare.tol + compare.tol * std::abs(leaf.res_at_worst))
    return predicate;
  predicate.form = Predicate::Form::Bound;
  predicate.limit = std::max(0.0, leaf.multiplier - 1) * noise;
  predicate.why = "More than eager itself is off, measured against float64, and the tolerance.";
  return predicate;
}

Predicate by_rule(const LeafReport &leaf, const ReproFacts &facts) {
  const CompareOptions &compare = facts.check.compare;
  Predicate predicate;
  predicate.rtol = predicate.atol = compare.tol;
  switch (compare.rule) {
  case CompareRule::Exact:
    predicate.form = Predicate::Form::Exact;
    return predicate;
  case CompareRule::Close:
    return close_by_dtype(leaf, compare);
  case CompareRule::Strict:
    if (has_rounding(dtype_of(leaf.ref_form)))
      return bounded(leaf, compare);
    predicate.form = Predicate::Form::Equal;
    return predicate;
  case CompareRule::Default:
  case CompareRule::PyTorch:
    break;
  }
  if (compare.use_iou_for_bool && dtype_of(leaf.ref_form) == at::kBool && dtype_of(leaf.res_form) == at::kBool) {
    predicate.form = Predicate::Form::Overlap;
    predicate.limit = compare.iou_threshold;
    return predicate;
  }
  if (compare.cos_similarity) {
    predicate.form = Predicate::Form::Direction;
    predicate.limit = least_cosine;
    return predicate;
  }
  return beyond_eagers_error(leaf, facts).value_or(predicate);
}

} // namespace

Predicate predicate_of(const ReproFacts &facts) {
  const LeafReport none;
  const LeafReport *leaf = leaf_showing(facts.reduced, facts.signature);
  Predicate predicate = by_rule(leaf ? *leaf : none, facts);
  predicate.equal_nan = facts.check.compare.equal_nan;
  predicate.floating_only = facts.check.compare.ignore_non_fp;
  predicate.quantised = leaf && at::isQIntType(dtype_of(leaf->ref_form));
  return predicate;
}

} // namespace repro_minify
