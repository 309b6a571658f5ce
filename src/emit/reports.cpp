// report.json for scripts, report.md for an issue tracker.
#include "backends/in_python.h"
#include "emit/atomic_file.h"
#include "emit/render.h"
#include "emit/report_values.h"
#include "emit/results_folder.h"
#include "emit/torchscript_source.h"
#include "program/canonical_form.h"
#include "program/values.h"
#include "repro_minify/confinement.h"
#include "repro_minify/repro.h"
#include "support/joined.h"
#include "support/number_text.h"

#include <nlohmann/json.hpp>

#include <cctype>
#include <filesystem>
#include <sstream>

namespace repro_minify {
namespace {

using nlohmann::json;

json phases_json(const ReproFacts &facts) {
  json phases = json::array();
  for (const auto &[name, seconds] : facts.phases)
    phases.push_back({{"phase", name}, {"seconds", seconds}});
  return phases;
}

json size_json(const ProgramSize &size) {
  return {{"nodes", size.nodes}, {"operators", size.operators}, {"inputs", size.inputs}, {"outputs", size.outputs}};
}

json signatures_json(const Verdict &verdict) {
  json list = json::array();
  for (const auto &signature : verdict.signatures)
    list.push_back(to_string(signature));
  return list;
}

/// Which outputs, gradients and buffers of the model fail, and how.
json wrong_leaves(const Verdict &verdict) {
  json list = json::array();
  const auto add = [&](const std::string &where, const std::vector<LeafReport> &leaves) {
    for (const auto &leaf : leaves) {
      json kinds = json::array();
      for (FailureKind kind : leaf.kinds)
        kinds.push_back(to_string(kind));
      if (!leaf.same)
        list.push_back({{"where", where}, {"path", leaf.path}, {"kinds", kinds}});
    }
  };
  add("output", verdict.outputs);
  add("gradient", verdict.gradients);
  add("state", verdict.state);
  return list;
}

bool has_cpp(const ReproFacts &facts) {
  return facts.signature.kind != FailureKind::Interesting;
}

/// Then it is repro.py that everything is in.
bool is_used_from_python(const Backend &backend) {
  return backend.parts().repro_in_python != nullptr;
}

json files_of(const ReproFacts &facts, const std::string &folder) {
  json files = {"reduced.pt", "inputs.pt", "report.html", "report.md", "report.json", "config.toml", "journal.jsonl"};
  if (has_cpp(facts))
    files.insert(files.end(), {"repro.cpp", "CMakeLists.txt", "issue.md"});
  if (facts.has_passing)
    files.insert(files.end(), {"passing.pt", "passing_inputs.pt"});
  for (const char *name : {"repro.py", "attributes.pt", "model.pt2"}) // of a backend that is used from Python
    if (is_of_this_run(folder + "/" + name))
      files.push_back(name);
  return files;
}

constexpr const char *outcomes_in_words[] = {"pass", "fail", "unresolved"};

json others_json(const ReproFacts &facts) {
  json rows = json::array();
  for (const auto &other : facts.others)
    rows.push_back({{"backend", other.name},
                    {"outcome", outcomes_in_words[static_cast<int>(other.verdict.outcome)]},
                    {"same_signature", other.same_signature},
                    {"signatures", signatures_json(other.verdict)},
                    {"message", other.verdict.message}});
  return rows;
}

/// What `one_minimal` is about, beside operators, inputs and outputs.
json simplifications_json() {
  json list = json::array();
  for (const auto &pass : list_reduction_passes())
    list.push_back({{"pass", pass.name}, {"what", pass.summary}});
  return list;
}

/// One number, that is: none under Exact, and one for each dtype where Close was not given any.
bool has_tolerance(const CompareOptions &compare) {
  return compare.rule != CompareRule::Exact && !compare.tol_by_dtype;
}

std::string program_text(const Program &program) {
  try {
    return torchscript_source(program);
  } catch (const std::exception &) {
    return program.graph->toString(false);
  }
}

/// For who compares repros: what was found once, and what may be the same bug.
json program_json(const Program &program, const ReproFacts &facts) {
  if (facts.not_reduced)
    return nullptr;
  return {
      {"source", program_text(program)}, {"canonical", canonical_form(program)}, {"operators", operators_of(program)}};
}

json script_json(const ReproFacts &facts) {
  const ScriptVerification &script = facts.script;
  return {{"verified", script.verified ? json(*script.verified) : json(nullptr)},
          {"verification", script.message},
          {"lines", script.lines},
          {"seconds", script.seconds}};
}

json report_json(const Program &program, const ReproFacts &facts, const std::string &folder) {
  json passes = json::array();
  for (const auto &row : facts.passes)
    passes.push_back({{"pass", row.pass},
                      {"turns", row.runs},
                      {"tried", row.tried},
                      {"worked", row.worked},
                      {"operators_removed", row.operators_removed},
                      {"checks", row.checks},
                      {"seconds", row.seconds}});
  json after = size_json(facts.after);
  after["operators_after_freezing"] = facts.after_freezing;
  return {{"tool", {{"name", "repro-minify"}, {"version", facts.version}}},
          {"torch", facts.torch_version},
          {"not_confined", missing_confinement()},
          {"model", facts.model_path},
          {"operator_libraries", facts.libraries},
          {"converted", facts.converted.empty() ? json(nullptr) : json(facts.converted)},
          {"method", facts.method},
          {"inputs", facts.inputs_origin},
          {"backend", facts.backend->name()},
          {"other_backends", others_json(facts)},
          {"nearer_to_fp64", nearer_to_fp64(facts.reduced)},
          {"reads_unwritten_memory", facts.reads_unwritten ? json(*facts.reads_unwritten) : json(nullptr)},
          {"grad", facts.check.grad},
          {"seed", facts.check.seed},
          {"calls", facts.check.calls},
          {"threads", facts.check.threads},
          {"device", facts.check.device.str()},
          {"autocast", facts.check.autocast ? json(dtype_name(facts.check.autocast_dtype)) : json(nullptr)},
          {"deterministic", to_string(facts.check.determinism)},
          {"tf32", facts.check.tf32},
          {"rate", {{"failed", facts.original_failed}, {"runs", facts.original_runs}}},
          {"repeat", facts.repetition.runs},
          {"need", facts.repetition.need},
          {"compare", to_string(facts.check.compare.rule)},
          {"tol", has_tolerance(facts.check.compare) ? json(facts.check.compare.tol) : json(nullptr)},
          {"program", program_json(program, facts)},
          {"verdict",
           {{"kind", to_string(facts.signature.kind)},
            {"where", facts.signature.where},
            {"message", facts.reduced.message},
            {"detail", facts.signature.detail}}},
          {"original",
           {{"message", facts.original.message},
            {"failing_call", facts.original.failing_call},
            {"left_out", facts.original.left_out},
            {"signatures", signatures_json(facts.original)},
            {"wrong", wrong_leaves(facts.original)}}},
          {"same_failure", to_string(facts.same_failure)},
          {"flatten",
           {{"level", facts.flatten_level}, {"hidden_by", facts.hidden_by ? json(*facts.hidden_by) : json(nullptr)}}},
          {"not_reduced", facts.not_reduced ? json(*facts.not_reduced) : json(nullptr)},
          {"before", size_json(facts.before)},
          {"after", after},
          {"checks", facts.checks},
          {"cached", facts.cached},
          {"resumed", facts.resumed},
          {"seconds",
           {{"search", facts.search_seconds},
            {"checks", facts.check_seconds},
            {"verify", facts.verify_seconds},
            {"total", facts.total_seconds}}},
          {"phases", phases_json(facts)},
          {"passes", passes},
          {"bisect", facts.bisection ? json::parse(to_json(*facts.bisection)) : json(nullptr)},
          {"one_minimal", facts.one_minimal},
          {"not_shown_because", facts.not_shown_because},
          {"simplifications", simplifications_json()},
          {"interrupted", facts.interrupted},
          {"out_of_time", facts.out_of_time},
          {"verified", facts.verified ? json(*facts.verified) : json(nullptr)},
          {"verification", facts.verify_message},
          {"repro_py", script_json(facts)},
          {"files", files_of(facts, folder)}};
}

std::string seconds(double value) {
  return fixed_text(value, 1) + " s";
}

json inputs_json(const Program &program) {
  json rows = json::array();
  for (const auto &input : program.inputs)
    rows.push_back({{"name", input.name},
                    {"role", to_string(input.role)},
                    {"type", describe(input.value)},
                    {"how", input.formula.empty() ? "recorded" : input.formula}});
  return rows;
}

json passes_rows(const ReproFacts &facts) {
  json rows = json::array();
  for (const auto &row : facts.passes)
    if (row.tried > 0)
      rows.push_back({{"pass", row.pass},
                      {"turns", row.runs},
                      {"tried", row.tried},
                      {"worked", row.worked},
                      {"operators_removed", row.operators_removed},
                      {"checks", row.checks},
                      {"seconds", seconds(row.seconds)}});
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
  return text.str();
}

std::string settings_text(const ReproFacts &facts) {
  std::ostringstream text;
  text << facts.check.device << ", seed " << facts.check.seed << ", " << facts.check.calls << " calls, "
       << facts.check.threads << " thread(s), " << compare_text(facts.check.compare) << ", autocast "
       << (facts.check.autocast ? dtype_name(facts.check.autocast_dtype) : "off") << ", deterministic algorithms "
       << to_string(facts.check.determinism)
       << (facts.check.determinism == Determinism::Off ? "" : " (which can cost speed)")
       << (facts.check.device.is_cuda() ? facts.check.tf32 ? ", TF32 on" : ", TF32 off" : "");
  return text.str();
}

/// docs/one-minimal.md has the definition.
std::string one_minimal_text(const ReproFacts &facts) {
  if (facts.not_reduced)
    return "no: not reduced";
  if (facts.one_minimal)
    return "yes: no single operator, input or output can go, and no single simplification of the list below applies";
  std::string text = "not shown: ";
  for (const auto &reason : facts.not_shown_because)
    text += (&reason == &facts.not_shown_because.front() ? "" : "; ") + reason;
  return text;
}

/// What was tried on the result, one by one, and no longer fails.
json simplifications_section(const ReproFacts &facts) {
  return facts.one_minimal ? json{{"list", simplifications_json()}} : json(nullptr);
}

/// What was found, how far it was taken, and what is known of the failure beside.
json findings(const ReproFacts &facts) {
  json values = {{"found", facts.reduced.message},
                 {"signature", to_string(facts.signature)},
                 {"original", facts.original.message},
                 {"left_out", facts.original.left_out},
                 {"one_minimal", one_minimal_text(facts)},
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
                           {"steps", facts.bisection->steps.size()},
                           {"checks", facts.bisection->checks.size()},
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
  return {{"verified", has_cpp(facts) ? "yes: repro.cpp was built and run, and fails the same way"
                                      : "yes: the oracle finds reduced.pt interesting, time and again"}};
}

/// Which files there are, beside reduced.pt and inputs.pt.
json files_values(const ReproFacts &facts, const std::string &folder) {
  const bool python = is_of_this_run(folder + "/repro.py");
  const bool package = is_of_this_run(folder + "/model.pt2");
  const bool cpp_is_only_a_runner = python && !package && is_used_from_python(*facts.backend);
  return {{"has_passing", facts.has_passing},
          {"has_cpp", has_cpp(facts)},
          {"python_shows", python},
          {"loads_package", package},
          {"cpp_shows", !cpp_is_only_a_runner}};
}

/// Nobody else has them: the repro goes nowhere without.
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
                 {"torch_version", facts.torch_version},
                 {"not_confined", missing_confinement()},
                 {"backend", facts.backend->name()},
                 {"grad", facts.check.grad},
                 {"nodes_before", facts.before.nodes},
                 {"operators_before", facts.before.operators},
                 {"nodes_after", facts.after.nodes},
                 {"operators_after", facts.after.operators},
                 {"converted", facts.converted},
                 {"operator_libraries", libraries_sentence(facts)},
                 {"flattened", facts.flatten_level},
                 {"hidden_by", facts.hidden_by.value_or("")},
                 {"not_reduced", facts.not_reduced.value_or("")},
                 {"checks", facts.checks},
                 {"search_seconds", seconds(facts.search_seconds)},
                 {"settings", settings_text(facts)},
                 {"passes", passes_rows(facts)},
                 {"simplifications", simplifications_section(facts)},
                 {"python_verified", script_verified_text(facts)},
                 {"version", facts.version},
                 {"model", std::filesystem::path(facts.model_path).filename().string()}};
  for (const json &part : {findings(facts), verification_values(facts), files_values(facts, folder)})
    values.update(part);
  return values;
}

std::string bisection_sentence(const ReproFacts &facts) {
  if (!facts.bisection)
    return "";
  std::string sentence = facts.bisection->message + ".";
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

std::string to_string(const OtherBackend &other) {
  switch (other.verdict.outcome) {
  case Verdict::Outcome::Pass:
    return "does not fail";
  case Verdict::Outcome::Unresolved:
    return "cannot be checked: " + other.verdict.message;
  case Verdict::Outcome::Fail:
    break;
  }
  return other.same_signature ? "fails too, with the same signature"
                              : "fails too, with another signature: " + to_string(other.verdict.signatures.front());
}

void write_reports(const Program &program, const ReproFacts &facts, const std::string &folder) {
  write_atomically(folder + "/report.json",
                   report_json(program, facts, folder).dump(2, ' ', true, json::error_handler_t::replace) + "\n");
  write_atomically(folder + "/report.md", render("report.md.tpl", report_values(program, facts, folder)));
}

} // namespace repro_minify
