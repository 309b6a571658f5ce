// The values that report.md and report.html show of a run.
#include "core/number_text.h"
#include "core/text.h"
#include "program/formula.h"
#include "program/values.h"
#include "repro/reported.h"
#include "repro/results_folder.h"
#include "repro/shown_value.h"
#include "repro/triage.h"
#include "repro/workaround.h"
#include "repro_minify/sandbox.h"

#include <filesystem>
#include <sstream>

namespace repro_minify {
namespace {

std::string seconds(double value) {
  return fixed_text(value, 1) + " s";
}

/// Returns how an input is made, or what is in it.
std::string content_of(const ProgramInput &input) {
  if (input.formula)
    return to_string(*input.formula);
  const std::string elements = input.value.isTensor() ? elements_text(input.value.toTensor()) : "";
  return elements.empty() ? "recorded" : elements;
}

json inputs_json(const Program &program) {
  json rows = json::array();
  for (const auto &input : program.inputs)
    rows.push_back({{"name", input.name},
                    {"role", to_string(input.role)},
                    {"type", describe(input.value)},
                    {"how", content_of(input)}});
  return rows;
}

json passes_rows(const ReproFacts &facts) {
  json rows = json::array();
  for (const auto &row : facts.passes)
    if (row.tried > 0 || row.operators_removed != 0) {
      rows.push_back(pass_json(row));
      rows.back()["seconds"] = seconds(row.seconds);
    }
  return rows;
}

std::string compare_text(const CompareOptions &compare) {
  std::ostringstream text;
  text << "compare " << to_string(compare.rule);
  if (compare.tol_by_dtype)
    text << ", tol by dtype";
  else if (compare.rule != CompareRule::Exact)
    text << ", tol " << compare.tol;
  if (!compare.equal_nan)
    text << ", NaN never equal";
  const std::pair<bool, const char *> others[] = {
      {compare.ignore_non_fp, ", floating point only"},
      {!compare.exact_dtype, ", any dtype"},
      {compare.cos_similarity, ", by cosine similarity"},
      {compare.use_larger_multiplier_for_smaller_tensor, ", larger multiplier for smaller tensors"},
      {compare.force_max_multiplier, ", largest multiplier"}};
  for (const auto &[is_on, words] : others)
    text << (is_on ? words : "");
  if (compare.use_iou_for_bool)
    text << ", masks by intersection over union of " << compare.iou_threshold;
  return text.str();
}

std::string size_text(const ProgramSize &size) {
  return counted(size.nodes, "node") + ", " + counted(size.operators, "operator");
}

std::string settings_text(const ReproFacts &facts) {
  std::ostringstream text;
  text << facts.check.device << ", seed " << facts.check.seed << ", " << counted(facts.check.calls, "call") << ", "
       << counted(facts.check.threads, "thread") << ", " << compare_text(facts.check.compare) << ", autocast "
       << (facts.check.autocast ? dtype_name(facts.check.autocast_dtype) : "off") << ", deterministic algorithms "
       << to_string(facts.check.determinism)
       << (facts.check.determinism == Determinism::Off ? "" : " (which can cost speed)")
       << (facts.check.device.is_cuda() ? facts.check.tf32 ? ", TF32 on" : ", TF32 off" : "");
  return text.str();
}

/// Returns whether the result is 1-minimal (docs/one-minimal.md), and if not, why.
std::string one_minimal_text(const ReproFacts &facts) {
  if (facts.not_reduced)
    return "no: not reduced";
  if (facts.one_minimal)
    return "yes: no single operator, input or output can go, and no single simplification of the list below applies";
  return "not shown: " + joined(facts.not_shown_because, "; ");
}

/// Returns what was found, how far it was reduced, and what else is known of the failure.
json findings(const ReproFacts &facts) {
  const std::optional<Nature> nature = nature_of_reduced(facts);
  json values = {{"found", facts.reduced.message},
                 {"signature", to_string(facts.signature)},
                 {"original", facts.original.message},
                 {"left_out", facts.original.left_out},
                 {"one_minimal", one_minimal_text(facts)},
                 {"nature", nature ? to_string(*nature) : ""},
                 {"explanation", explanation_sentence(facts)},
                 {"versions", versions_sentence(facts)},
                 {"workaround", workaround_sentence(facts)},
                 {"nearer", nearer_to_fp64(facts.reduced)},
                 {"reads_unwritten", facts.reads_unwritten.value_or(false)}};
  if (facts.reduced.failing_call > 1)
    values["failing_call"] = facts.reduced.failing_call;
  if (facts.reduced.coverage)
    values["compiled"] = facts.reduced.coverage->compiled;
  if (facts.original_runs > 1)
    values["rate"] = {{"failed", facts.original_failed},
                      {"runs", facts.original_runs},
                      {"need", facts.repetition.need},
                      {"repeat", facts.repetition.runs}};
  if (const std::string sentence = bisection_sentence(facts); !sentence.empty())
    values["bisection"] = {{"sentence", sentence},
                           {"note", facts.bisection->note},
                           {"steps", counted(facts.bisection->steps.size(), "step")},
                           {"checks", counted(facts.bisection->checks.size(), "check")},
                           {"seconds", seconds(facts.bisection->seconds)}};
  for (const auto &other : facts.others)
    values["others"].push_back({{"name", other.name}, {"verdict", to_string(other)}});
  return values;
}

std::string script_verified_text(const ReproFacts &facts) {
  const ScriptVerification &script = facts.script;
  if (script.verified.value_or(false))
    return "yes: run in an interpreter of its own, and fails the same way";
  return script.message.empty() ? "" : "no: " + script.message;
}

json verification_values(const ReproFacts &facts) {
  if (!facts.verified)
    return {{"verified", facts.verify_message.empty() ? "not tried" : facts.verify_message}};
  if (!*facts.verified)
    return {{"verified", ""}, {"not_verified", facts.verify_message}};
  if (!facts.verify_message.empty())
    return {{"verified", "yes: repro.py was run, and fails the same way; " + facts.verify_message}};
  const char *what = !has_issue(facts) ? "the oracle finds reduced.pt interesting, time and again"
                     : has_cpp(facts)  ? "repro.cpp was built and run, and fails the same way"
                                       : "repro.py was run, and fails the same way";
  return {{"verified", std::string("yes: ") + what}};
}

/// Returns which files there are beside reduced.pt and inputs.pt, and which of them show the failure.
json files_values(const ReproFacts &facts, const std::string &folder) {
  const bool python = is_of_this_run(folder + "/repro.py");
  const bool package = is_of_this_run(folder + "/model.pt2");
  const bool cpp_is_only_a_runner = python && !package && facts.backend->parts().repro_in_python;
  return {{"has_passing", facts.has_passing},
          {"has_cpp", is_of_this_run(folder + "/repro.cpp")},
          {"python_shows", python},
          {"loads_package", package},
          {"cpp_shows", !cpp_is_only_a_runner}};
}

/// Returns a sentence about the user's operator libraries, empty if there are none. The repro does not run without
/// them, and only the user has them.
std::string libraries_sentence(const ReproFacts &facts) {
  return facts.libraries.empty()
             ? ""
             : joined(facts.libraries) + ", as --load-library named it: the repro loads it from beside itself";
}

} // namespace

json report_values(const Program &program, const ReproFacts &facts, const std::string &folder) {
  json values = {{"kind", to_string(facts.signature.kind)},
                 {"backend_title", facts.backend->title()},
                 {"program", program_text(program)},
                 {"inputs", inputs_json(program)},
                 {"any_input", !program.inputs.empty()},
                 {"torch_version", facts.torch_version},
                 {"not_confined", missing_confinement()},
                 {"backend", facts.backend->name()},
                 {"grad", facts.check.grad},
                 {"operators_before", facts.before.operators},
                 {"operators_after", facts.after.operators},
                 {"size_before", size_text(facts.before)},
                 {"size_after", size_text(facts.after)},
                 {"converted", facts.converted},
                 {"operator_libraries", libraries_sentence(facts)},
                 {"flattened", facts.flatten_level},
                 {"hidden_by", facts.hidden_by.value_or("")},
                 {"not_reduced", facts.not_reduced.value_or("")},
                 {"checks", facts.checks},
                 {"search_seconds", seconds(facts.search_seconds)},
                 {"settings", settings_text(facts)},
                 {"passes", passes_rows(facts)},
                 {"simplifications", facts.one_minimal ? json{{"list", simplifications_json()}} : json(nullptr)},
                 {"python_verified", script_verified_text(facts)},
                 {"version", facts.version},
                 {"model", std::filesystem::path(facts.model_path).filename().string()}};
  for (const json &part : {findings(facts), verification_values(facts), files_values(facts, folder)})
    values.update(part);
  return values;
}

} // namespace repro_minify
