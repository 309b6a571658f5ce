#include "repro/repro_py.h"

#include "check/compare_values.h"
#include "check/verdict_text.h"
#include "core/number_text.h"
#include "repro/render.h"

namespace repro_minify {
namespace {

/// In what two results of another form differ, of what a repro can ask.
struct Differences {
  bool strides = false, layout = false, device = false;
};

Differences differences_of(const ReproFacts &facts) {
  const LeafReport *leaf = leaf_showing(facts.reduced, facts.signature);
  if (!leaf || !leaf->ref_form || !leaf->res_form)
    return {};
  return {strides_differ(*leaf->ref_form, *leaf->res_form), leaf->ref_form->layout != leaf->res_form->layout,
          leaf->ref_form->device != leaf->res_form->device};
}

/// True if only NaN and Inf in the wrong places are looked for.
bool is_about_places(const ReproFacts &facts) {
  return facts.signature.kind == FailureKind::Nan && has_arbiter(facts.check.compare.rule);
}

std::string form_of(const ReproFacts &facts, const Predicate &predicate) {
  return is_about_places(facts) ? "places" : to_string(predicate.form);
}

} // namespace

const char *to_string(Predicate::Form form) {
  constexpr const char *names[] = {"close", "rms", "bound", "exact", "equal", "direction", "overlap"};
  return names[static_cast<int>(form)];
}

std::string differs_function(const ReproFacts &facts, bool complex, bool plain) {
  const FailureKind kind = facts.signature.kind;
  if (!is_comparison(kind))
    return "";
  const Predicate predicate = predicate_of(facts);
  const Differences differences = differences_of(facts);
  const std::string form = form_of(facts, predicate);
  // The form itself casts where it has to.
  const bool as_it_is = predicate.as_it_is || predicate.form >= Predicate::Form::Exact;
  const bool values = kind != FailureKind::Structure && kind != FailureKind::Dtype && kind != FailureKind::Shape;
  return render("differs.cpp.tpl",
                {{"structure", kind == FailureKind::Structure},
                 {"dtype", kind == FailureKind::Dtype},
                 {"shape", kind == FailureKind::Shape},
                 {"values", values},
                 {"strides", differences.strides},
                 {"layout", differences.layout},
                 {"other_device", differences.device},
                 {"grad", facts.check.grad},
                 {"floating_only", predicate.floating_only},
                 {"quantised", predicate.quantised},
                 {"complex", complex},
                 {"plain", plain},
                 {"as_double", !as_it_is || form == "places"},
                 {"why", form == "places" || form == "exact" || form == "equal" ? "" : predicate.why},
                 {form, true},
                 {"limit", double_literal(predicate.limit)},
                 {"rtol", double_literal(predicate.rtol)},
                 {"atol", double_literal(predicate.atol)},
                 {"relative_to_expected", predicate.relative_to_expected},
                 {"equal_nan", predicate.equal_nan}});
}

std::string same_condition(const ReproFacts &facts) {
  const FailureKind kind = facts.signature.kind;
  if (kind == FailureKind::Dtype)
    return "found.scalar_type() == expected.scalar_type()";
  if (kind == FailureKind::Shape)
    return "found.sizes() == expected.sizes()";
  if (kind != FailureKind::Accuracy && kind != FailureKind::Nan)
    return "";
  const LeafReport *leaf = leaf_showing(facts.reduced, facts.signature);
  if (is_about_places(facts))
    return leaf && leaf->ref_inf == 0 && leaf->res_inf == 0 ? "at::equal(found.isnan(), expected.isnan())" : "";
  const Predicate predicate = predicate_of(facts);
  if (predicate.form != Predicate::Form::Close || predicate.floating_only || predicate.quantised)
    return "";
  const std::string cast = predicate.as_it_is ? "" : ".to(at::kDouble)", found = "found" + cast,
                    expected = "expected" + cast;
  return "at::allclose(" + (predicate.relative_to_expected ? found + ", " + expected : expected + ", " + found) + ", " +
         double_literal(predicate.rtol) + ", " + double_literal(predicate.atol) + ", /*equal_nan=*/" +
         (predicate.equal_nan ? "true" : "false") + ")";
}

json differs_json(const ReproFacts &facts) {
  const Predicate predicate = predicate_of(facts);
  return {{"form", form_of(facts, predicate)},
          {"rtol", predicate.rtol},
          {"atol", predicate.atol},
          {"limit", predicate.limit},
          {"equal_nan", predicate.equal_nan},
          {"as_it_is", predicate.as_it_is},
          {"relative_to_expected", predicate.relative_to_expected},
          {"floating_only", predicate.floating_only},
          {"why", predicate.why},
          {"strides", differences_of(facts).strides}};
}

} // namespace repro_minify
