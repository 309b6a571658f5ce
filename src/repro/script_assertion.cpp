#include "repro/script_text.h"

#include "check/verdict_text.h"
#include "core/number_text.h"
#include "repro/repro_py.h"

#include <algorithm>
#include <functional>

namespace repro_minify {
namespace {

using nlohmann::json;

bool any_leaf(const Verdict &verdict, const std::function<bool(const LeafReport &)> &is) {
  for (const auto *leaves : {&verdict.outputs, &verdict.gradients, &verdict.state})
    if (std::any_of(leaves->begin(), leaves->end(), is))
      return true;
  return false;
}

/// True if what PyTorch's own tests allow is enough: eager itself is off by less.
bool allows_the_usual(const ReproFacts &facts) {
  const LeafReport *leaf = leaf_showing(facts.reduced, facts.signature);
  return leaf && has_arbiter(facts.check.compare.rule) && !(leaf->ref_error > 1e-6);
}

bool has_another_dtype(const LeafReport &leaf) {
  return leaf.ref_form && leaf.res_form && leaf.ref_form->dtype != leaf.res_form->dtype;
}

} // namespace

json script_assertion(const ReproFacts &facts, bool several) {
  const FailureKind kind = facts.signature.kind;
  if (!is_comparison(kind))
    return {{"close", true}};
  const Predicate predicate = predicate_of(facts);
  const bool of_form = kind == FailureKind::Dtype || kind == FailureKind::Shape || kind == FailureKind::Structure;
  const bool close = predicate.form == Predicate::Form::Close || kind == FailureKind::Nan || of_form;
  const bool has_nan = any_leaf(facts.reduced, [](const LeafReport &leaf) { return leaf.ref_nan > 0; });
  return {{"close", close},
          {"pairwise", !close},
          {"pairs", several ? "zip(expected, found)" : "[(expected, found)]"},
          {"tolerance", !of_form && !allows_the_usual(facts)},
          {"rtol", double_literal(predicate.rtol)},
          {"atol", double_literal(predicate.atol)},
          {"limit", double_literal(predicate.limit)},
          {"equal_nan", predicate.equal_nan && has_nan},
          {"any_dtype", kind != FailureKind::Dtype && any_leaf(facts.reduced, has_another_dtype)},
          {"strides", kind == FailureKind::Structure},
          {"rms", predicate.form == Predicate::Form::Rms},
          {"bound", predicate.form == Predicate::Form::Bound},
          {"exact", predicate.form == Predicate::Form::Exact},
          {"equal", predicate.form == Predicate::Form::Equal},
          {"direction", predicate.form == Predicate::Form::Direction},
          {"overlap", predicate.form == Predicate::Form::Overlap}};
}

} // namespace repro_minify
