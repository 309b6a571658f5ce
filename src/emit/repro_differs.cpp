#include "emit/repro_differs.h"

#include "support/escape.h"

#include <sstream>

namespace repro_minify {
namespace {

bool asks_for(const ReproFacts &facts, const char *word) {
  return facts.reduced.message.find(word) != std::string::npos;
}

/// What of its form, beside there being a tensor at all, is wrong: only what this failure is about.
std::string structure_body(const ReproFacts &facts) {
  std::string text = "  if (expected.isNone() != found.isNone() || expected.isTensor() != found.isTensor())\n"
                     "    return true;\n"
                     "  if (!expected.isTensor())\n    return false;\n"
                     "  const at::Tensor e = expected.toTensor(), f = found.toTensor();\n"
                     "  return e.defined() != f.defined()";
  for (const auto &[word, question] :
       {std::pair{"strides", "e.strides() != f.strides()"}, std::pair{"layout", "e.layout() != f.layout()"},
        std::pair{"device", "e.device() != f.device()"}})
    if (asks_for(facts, word))
      text += std::string(" || (e.defined() && ") + question + ")";
  return text + ";\n";
}

/// NaN and infinities, sign included: everything else is nothing.
std::string nan_body() {
  return "  const auto special = [](const at::Tensor& x) { return at::where(x.isfinite(), at::zeros_like(x), x); };\n"
         "  return !at::allclose(special(expected), special(found), 0, 0, /*equal_nan=*/true);\n";
}

std::string exact_body() {
  return "  // Bit for bit, but that NaN equals NaN.\n"
         "  const at::Tensor same = (expected == found) & (expected.signbit() == found.signbit());\n"
         "  return !(same | (expected.isnan() & found.isnan())).all().item<bool>();\n";
}

std::string value_body(const Predicate &predicate) {
  const std::string why = predicate.why.empty() ? "" : "  // " + comment_text(predicate.why) + "\n";
  const std::string limit = double_literal(predicate.limit), rtol = double_literal(predicate.rtol);
  switch (predicate.form) {
  case Predicate::Form::Exact:
    return exact_body();
  case Predicate::Form::Equal:
    return "  return !expected.is_floating_point() && !at::equal(expected, found);\n";
  case Predicate::Form::Rms:
    return why +
           "  const at::Tensor error = at::nan_to_num(expected - found, 0, 0, 0);\n"
           "  return error.numel() > 0 && error.square().mean().sqrt().item<double>() > " +
           limit + ";\n";
  case Predicate::Form::Bound:
    return why + "  const at::Tensor bound = expected.abs().clamp_min(1) * " + rtol + " + " + limit +
           ";\n  return ((found - expected).abs() > bound).any().item<bool>();\n";
  case Predicate::Form::Close:
    break;
  }
  // Of allclose's tolerance: it is relative to the second operand.
  const char *order = predicate.relative_to_expected ? "found, expected" : "expected, found";
  return why + "  return !at::allclose(" + order + ", /*rtol=*/" + rtol + ", /*atol=*/" +
         double_literal(predicate.atol) + ", /*equal_nan=*/" + (predicate.equal_nan ? "true" : "false") + ");\n";
}

/// Whether NaN and Inf in the wrong places are all that is looked for.
bool is_about_places(const ReproFacts &facts) {
  return facts.signature.kind == FailureKind::Nan && has_arbiter(facts.check.compare.rule);
}

std::string values_text(const ReproFacts &facts, bool complex) {
  const Predicate predicate = predicate_of(facts);
  std::string text;
  if (!facts.check.grad)
    text += "  if (expected.sizes() != found.sizes())\n    return false;  // another failure\n";
  if (predicate.floating_only)
    text += "  if (!expected.is_floating_point() && !expected.is_complex())\n    return false;\n";
  if (predicate.quantised)
    text += "  expected = expected.dequantize();\n  found = found.dequantize();\n";
  if (complex)
    text += "  if (expected.is_complex()) {\n"
            "    expected = at::view_as_real(expected.resolve_conj());\n"
            "    found = at::view_as_real(found.resolve_conj());\n"
            "  }\n";
  const bool as_it_is = predicate.as_it_is || predicate.form >= Predicate::Form::Exact;
  if (!as_it_is || is_about_places(facts))
    text += "  expected = expected.to(at::kDouble);\n"
            "  found = found.to(at::kDouble);\n";
  return text + (is_about_places(facts) ? nan_body() : value_body(predicate));
}

} // namespace

std::string differs_function(const ReproFacts &facts, bool complex) {
  const FailureKind kind = facts.signature.kind;
  if (!is_comparison(kind))
    return "";
  if (kind == FailureKind::Structure)
    return "static bool differs(const c10::IValue& expected, const c10::IValue& found) {\n" + structure_body(facts) +
           "}\n\n";
  std::string text = "static bool differs(const c10::IValue& expected_value, const c10::IValue& found_value) {\n"
                     "  if (!expected_value.isTensor() || !found_value.isTensor())\n"
                     "    return false;\n"
                     "  at::Tensor expected = expected_value.toTensor().detach(), found = "
                     "found_value.toTensor().detach();\n";
  if (kind == FailureKind::Dtype)
    text += "  return expected.scalar_type() != found.scalar_type();\n";
  else if (kind == FailureKind::Shape)
    text += "  return expected.sizes() != found.sizes();\n";
  else
    text += values_text(facts, complex);
  return text + "}\n\n";
}

nlohmann::json differs_json(const ReproFacts &facts) {
  constexpr const char *forms[] = {"close", "rms", "bound", "exact", "equal"};
  const Predicate predicate = predicate_of(facts);
  return {{"form", is_about_places(facts) ? "places" : forms[static_cast<int>(predicate.form)]},
          {"rtol", predicate.rtol},
          {"atol", predicate.atol},
          {"limit", predicate.limit},
          {"equal_nan", predicate.equal_nan},
          {"as_it_is", predicate.as_it_is},
          {"relative_to_expected", predicate.relative_to_expected},
          {"floating_only", predicate.floating_only},
          {"why", predicate.why},
          {"strides", asks_for(facts, "strides")}};
}

} // namespace repro_minify
