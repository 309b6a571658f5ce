// report.json: what is known of a run, for scripts.

#include "core/json.h"
#include "program/value_digest.h"
#include "program/values.h"
#include "repro/reported.h"
#include "repro/results_folder.h"
#include "repro/triage.h"
#include "repro_minify/sandbox.h"

#include <optional>

namespace repro_minify {
namespace {

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

json files_of(const ReproFacts &facts, const std::string &folder) {
  json files = {"reduced.pt", "inputs.pt", "report.html", "report.md", "report.json", "config.toml", "journal.jsonl"};
  if (has_issue(facts))
    files.push_back("issue.md");
  if (facts.has_passing)
    files.insert(files.end(), {"passing.pt", "passing_inputs.pt"});
  for (const char *name : {"repro.cpp", "CMakeLists.txt", "repro.py", "test_repro.py", "attributes.pt", "model.pt2"})
    if (is_of_this_run(folder + "/" + name))
      files.push_back(name);
  return files;
}

constexpr const char *outcomes_in_words[] = {"pass", "fail", "unresolved"};

/// Returns nature_json() of the reduced program, and what eager moves by.
json nature_and_movement(const ReproFacts &facts) {
  json nature = nature_json(nature_of_reduced(facts));
  if (!nature.is_null()) {
    nature["eager_moves_by"] = json_number(facts.movement.by_rounding);
    nature["eager_moves_by_seed"] = json_number(facts.movement.by_seed);
  }
  return nature;
}

json explanation_json(const ReproFacts &facts) {
  if (!facts.explanation)
    return nullptr;
  return {{"kind", facts.explanation->kind}, {"call", facts.explanation->call}, {"other", facts.explanation->other}};
}

json generated_json(const ReproFacts &facts) {
  if (!facts.generated)
    return nullptr;
  json origins = json::array();
  for (const GeneratedCode::Origin &origin : facts.generated->origins)
    origins.push_back({{"operator", origin.operator_name},
                       {"kind", origin.kind},
                       {"function", origin.function},
                       {"file", origin.file},
                       {"line", origin.line}});
  return {{"language", facts.generated->language},
          {"code", facts.generated->code},
          {"calls", facts.generated->calls},
          {"origins", origins}};
}

json workaround_json(const ReproFacts &facts) {
  if (!facts.workaround)
    return nullptr;
  return {{"code", facts.workaround->code},
          {"mends_model", if_known(facts.workaround->mends_model)},
          {"times_as_long", if_known(facts.workaround->times_as_long)}};
}

/// Returns a row for each version of PyTorch that repro.py was run under.
json version_rows_json(const ReproFacts &facts) {
  constexpr const char *outcomes[] = {"no answer", "right", "wrong"};
  json rows = json::array();
  for (const VersionRow &row : facts.versions)
    rows.push_back({{"torch", row.torch},
                    {"outcome", outcomes[static_cast<int>(row.outcome)]},
                    {"message", row.message},
                    {"same_eager", if_known(row.same_eager)},
                    {"same_optimised", if_known(row.same_optimised)}});
  return rows;
}

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

/// One number, that is: none under Exact, and one for each dtype where Close was not given any.
bool has_tolerance(const CompareOptions &compare) {
  return compare.rule != CompareRule::Exact && !compare.tol_by_dtype;
}

/// For who compares repros: what was found once, and what may be the same bug.
json program_json(const Program &program, const ReproFacts &facts) {
  if (facts.not_reduced)
    return nullptr;
  return {{"source", program_text(program)},
          {"canonical", canonical_form(program)},
          {"operators", operators_of(program)},
          {"essence", bug_key(program, facts).essence},
          {"shared_results", count_shared_results(program)}};
}

json script_json(const ReproFacts &facts) {
  const ScriptVerification &script = facts.script;
  return {{"verified", if_known(script.verified)},
          {"verification", script.message},
          {"statement", script.statement},
          {"test_verified", if_known(script.test_verified)},
          {"lines", script.lines},
          {"seconds", script.seconds}};
}

json passes_json(const ReproFacts &facts) {
  json passes = json::array();
  for (const auto &row : facts.passes)
    passes.push_back(pass_json(row));
  return passes;
}

/// Returns what was checked, and by which tool and backend.
json subject_json(const ReproFacts &facts) {
  return {{"tool", {{"name", "repro-minify"}, {"version", facts.version}}},
          {"torch", facts.torch_version},
          {"not_confined", missing_confinement()},
          {"model", facts.model_path},
          {"operator_libraries", facts.libraries},
          {"modules", facts.modules},
          {"converted", facts.converted.empty() ? json(nullptr) : json(facts.converted)},
          {"method", facts.method},
          {"inputs", facts.inputs_origin},
          {"backend", facts.backend->name()}};
}

/// The settings of each check.
json check_json(const ReproFacts &facts) {
  const CheckOptions &check = facts.check;
  return {{"grad", check.grad},
          {"seed", check.seed},
          {"calls", check.calls},
          {"threads", check.threads},
          {"device", check.device.str()},
          {"autocast", check.autocast ? json(dtype_name(check.autocast_dtype)) : json(nullptr)},
          {"deterministic", to_string(check.determinism)},
          {"tf32", check.tf32},
          {"repeat", facts.repetition.runs},
          {"need", facts.repetition.need},
          {"compare", to_string(check.compare.rule)},
          {"tol", has_tolerance(check.compare) ? json(check.compare.tol) : json(nullptr)},
          {"equal_nan", check.compare.equal_nan},
          {"ignore_non_fp", check.compare.ignore_non_fp},
          {"exact_dtype", check.compare.exact_dtype},
          {"cos_similarity", check.compare.cos_similarity},
          {"use_larger_multiplier_for_smaller_tensor", check.compare.use_larger_multiplier_for_smaller_tensor},
          {"force_max_multiplier", check.compare.force_max_multiplier},
          {"use_iou_for_bool", check.compare.use_iou_for_bool},
          {"iou_threshold", check.compare.iou_threshold},
          {"same_failure", to_string(facts.same_failure)}};
}

/// Returns what fails: the model as it was given, and what it was reduced to.
json failure_json(const Program &program, const ReproFacts &facts) {
  return {{"rate", {{"failed", facts.original_failed}, {"runs", facts.original_runs}}},
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
          {"other_backends", others_json(facts)},
          {"nearer_to_fp64", nearer_to_fp64(facts.reduced)},
          {"reads_unwritten_memory", if_known(facts.reads_unwritten)},
          {"nature", nature_and_movement(facts)},
          {"explanation", explanation_json(facts)},
          {"generated", generated_json(facts)},
          {"workaround", workaround_json(facts)},
          {"versions", version_rows_json(facts)},
          {"bisect", facts.bisection ? json::parse(to_json(*facts.bisection)) : json(nullptr)}};
}

/// How it was reduced, how far, and what that took.
json search_json(const ReproFacts &facts) {
  json after = size_json(facts.after);
  after["operators_after_freezing"] = facts.after_freezing;
  return {{"flatten", {{"level", facts.flatten_level}, {"hidden_by", if_known(facts.hidden_by)}}},
          {"not_reduced", if_known(facts.not_reduced)},
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
          {"passes", passes_json(facts)},
          {"one_minimal", facts.one_minimal},
          {"not_shown_because", facts.not_shown_because},
          {"simplifications", simplifications_json()},
          {"interrupted", facts.interrupted},
          {"out_of_time", facts.out_of_time}};
}

/// Returns what is handed over, and whether it was verified.
json repro_json(const ReproFacts &facts, const std::string &folder) {
  return {{"verified", if_known(facts.verified)},
          {"verification", facts.verify_message},
          {"repro_py", script_json(facts)},
          {"files", files_of(facts, folder)}};
}

} // namespace

json nature_json(const std::optional<Nature> &nature) {
  if (!nature)
    return nullptr;
  return {
      {"kind", to_string(nature->kind)}, {"why", nature->why}, {"units_in_the_last_place", json_number(nature->units)}};
}

json pass_json(const PassStatistics &row) {
  return {{"pass", row.pass},
          {"turns", row.runs},
          {"tried", row.tried},
          {"worked", row.worked},
          {"operators_removed", row.operators_removed},
          {"checks", row.checks},
          {"seconds", row.seconds}};
}

json report_json(const Program &program, const ReproFacts &facts, const std::string &folder) {
  json report = subject_json(facts);
  for (const json &part :
       {check_json(facts), failure_json(program, facts), search_json(facts), repro_json(facts, folder)})
    report.update(part);
  return report;
}

} // namespace repro_minify
