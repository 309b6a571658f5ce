#include "repro/script_text.h"

#include "check/run_program.h"
#include "check/verdict_text.h"
#include "core/number_text.h"
#include "core/text.h"
#include "program/python_call.h"
#include "program/values.h"
#include "repro/render.h"
#include "repro/repro_py.h"
#include "repro/triage.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace repro_minify {
namespace {

/// Returns the last words of the first three operators, for the name of a test: "unfold", "neg".
std::vector<std::string> operator_names(const Program &program) {
  std::vector<std::string> names;
  for (const auto *node : program.graph->nodes())
    if (counts_as_operator(node) && names.size() < 3) {
      std::string name = short_operator_name(node);
      if (name.ends_with("__")) // __and__, but not mul_
        name.resize(name.size() - 2);
      const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      if (std::all_of(name.begin(), name.end(), is_word))
        names.push_back(name.substr(std::min(name.find_first_not_of('_'), name.size())));
    }
  return names;
}

/// Returns which PyTorch the failure was seen with, and the versions of the runtime behind it.
std::string seen_with(const ReproFacts &facts, const PythonCall &call) {
  std::string words = "PyTorch " + facts.torch_version;
  if (const OwnTracker *tracker = facts.backend->parts().tracker; tracker && !call.statements.empty())
    for (const json &pair : tracker->tracker().at("versions"))
      if (pair.at(0) != "torch")
        words += ", " + pair.at(0).get<std::string>() + " " + pair.at(1).get<std::string>();
  return words;
}

/// Returns the lines indented as a method's body, with one empty line where there are two.
std::string in_method(const std::string &body) {
  std::istringstream lines(body);
  std::string text;
  bool after_empty = false;
  for (std::string line; std::getline(lines, line); after_empty = line.empty())
    if (!line.empty() || !after_empty)
      text += (line.empty() ? "" : "        ") + line + "\n";
  return text;
}

/// Returns the statements before the program, imports first: modes, settings of the backend, seeds.
json script_settings(const ScriptParts &parts) {
  const ReproFacts &facts = parts.facts;
  const bool on_cpu = facts.check.device.is_cpu();
  json lines = parts.call.settings;
  if (facts.backend->parts().repro_in_python && facts.reads_unwritten.value_or(false)) {
    lines.push_back("import ctypes");
    lines.push_back("ctypes.CDLL(None).mallopt(-6, " + std::to_string(usual_perturbation) +
                    ")  # uninitialised memory holds the same each time (M_PERTURB)");
  }
  if (!on_cpu && facts.check.tf32)
    lines.push_back("torch.backends.cuda.matmul.allow_tf32 = True");
  if (!on_cpu && !facts.check.tf32)
    lines.push_back("torch.backends.cudnn.allow_tf32 = False");
  if (parts.form.interpreted || facts.check.threads != 1)
    lines.push_back("torch.set_num_threads(" + std::to_string(facts.check.threads) + ")");
  if (parts.form.interpreted && !facts.check.grad)
    lines.push_back("torch.set_grad_enabled(False)");
  if (parts.text.draws)
    for (const auto &line : parts.call.random_settings)
      lines.push_back(line);
  if (facts.needs_determinism && facts.check.determinism != Determinism::Off && !on_cpu) {
    lines.push_back("import os");
    lines.push_back(
        "os.environ.setdefault(\"CUBLAS_WORKSPACE_CONFIG\", \":4096:8\")  # cuBLAS is not deterministic without");
  }
  if (facts.needs_determinism && facts.check.determinism != Determinism::Off && (parts.text.draws || !on_cpu))
    lines.push_back("torch.use_deterministic_algorithms(True, warn_only=True)");
  std::stable_partition(lines.begin(), lines.end(), [](const json &line) { // imports stand together
    const auto &text = line.get_ref<const std::string &>();
    return text.starts_with("import ") || text.starts_with("from ");
  });
  return lines;
}

/// The values that the templates of repro.py and test_repro.py share.
json frame(const ScriptParts &parts) {
  const json settings = script_settings(parts);
  return {{"headline", headline(parts.program, parts.facts, parts.text.statement)},
          {"needs_path", !parts.facts.libraries.empty() || parts.text.reads_files},
          {"imports", parts.text.imports},
          {"settings", settings.empty() ? json(nullptr) : json{{"list", settings}}},
          {"operators", parts.facts.libraries}};
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

std::string script_text(const ScriptParts &parts) {
  json values = frame(parts);
  values["made"] = seen_with(parts.facts, parts.call) + "; reduced by repro-minify " + parts.facts.version;
  values["body"] = script_body(parts, /*is_test=*/false);
  return render("repro.py.tpl", values);
}

std::string test_text(const ScriptParts &parts) {
  json values = frame(parts);
  const std::string operators = joined(operator_names(parts.program), "_");
  values["name"] = operators.empty() ? "compiled" : operators;
  values["device"] = c10::DeviceTypeName(parts.facts.check.device.type(), /*lower_case=*/true);
  values["body"] = in_method(script_body(parts, /*is_test=*/true));
  return render("test_repro.py.tpl", values);
}

json script_assertion(const ReproFacts &facts, bool several) {
  const FailureKind kind = facts.signature.kind;
  if (!is_comparison(kind))
    return {{"close", true}};
  const Predicate predicate = predicate_of(facts);
  const bool of_form = kind == FailureKind::Dtype || kind == FailureKind::Shape || kind == FailureKind::Structure;
  const bool close = predicate.form == Predicate::Form::Close || kind == FailureKind::Nan || of_form;
  const bool has_nan = first_leaf(facts.reduced, [](const LeafReport &leaf) { return leaf.ref_nan > 0; }).second;
  return {{"close", close},
          {"pairwise", !close},
          {"pairs", several ? "zip(expected, found)" : "[(expected, found)]"},
          {"tolerance", !of_form && !allows_the_usual(facts)},
          {"rtol", double_literal(predicate.rtol)},
          {"atol", double_literal(predicate.atol)},
          {"limit", double_literal(predicate.limit)},
          {"equal_nan", predicate.equal_nan && has_nan},
          {"any_dtype", kind != FailureKind::Dtype && first_leaf(facts.reduced, has_another_dtype).second},
          {"strides", kind == FailureKind::Structure},
          {to_string(predicate.form), true}};
}

} // namespace repro_minify
