// report.json for scripts, report.md for an issue tracker.
#include "emit/atomic_file.h"
#include "emit/results_folder.h"
#include "emit/torchscript_source.h"
#include "program/canonical_form.h"
#include "program/values.h"
#include "repro_minify/confinement.h"
#include "repro_minify/repro.h"
#include "support/escape.h"

#include <nlohmann/json.hpp>

#include <cctype>
#include <filesystem>
#include <iomanip>
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

constexpr const char *same_failure_names[] = {"strict", "kind", "any"};

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

json files_of(const ReproFacts &facts, const std::string &folder) {
  json files = {"reduced.pt", "inputs.pt", "report.md", "report.json", "config.toml", "journal.jsonl"};
  if (has_cpp(facts))
    files.insert(files.end(), {"repro.cpp", "CMakeLists.txt"});
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
          {"same_failure", same_failure_names[static_cast<int>(facts.same_failure)]},
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
          {"files", files_of(facts, folder)}};
}

std::string seconds(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << value << " s";
  return text.str();
}

std::string inputs_table(const Program &program) {
  std::string table = "| input | role | type | value |\n|---|---|---|---|\n";
  for (const auto &input : program.inputs)
    table += "| " + markdown_text(input.name) + " | " + to_string(input.role) + " | " +
             markdown_text(describe(input.value)) + " | " +
             (input.formula.empty() ? "recorded" : markdown_text(input.formula)) + " |\n";
  return table;
}

std::string verified_text(const ReproFacts &facts) {
  if (!facts.verified)
    return "not tried";
  if (*facts.verified && !has_cpp(facts))
    return "yes: the oracle finds reduced.pt interesting, time and again";
  return *facts.verified ? "yes: repro.cpp was built and run, and fails the same way"
                         : "**no**: " + markdown_text(facts.verify_message);
}

std::string rate_row(const ReproFacts &facts) {
  if (facts.original_runs < 2)
    return "";
  return "| how often | the original failed in " + std::to_string(facts.original_failed) + " of " +
         std::to_string(facts.original_runs) + " runs; a candidate had to in " + std::to_string(facts.repetition.need) +
         " of up to " + std::to_string(facts.repetition.runs) + " |\n";
}

/// What else is to be known of the wrong result.
std::string note_rows(const ReproFacts &facts) {
  std::string rows;
  if (const std::string nearer = nearer_to_fp64(facts.reduced); !nearer.empty())
    rows += "| float64 | " + markdown_text(nearer) + " differs, nearer to float64 than eager |\n";
  if (facts.reads_unwritten.value_or(false))
    rows += "| memory | what it returns depends on memory that nobody has written |\n";
  if (const auto &coverage = facts.reduced.coverage)
    rows += "| compiled | " + std::to_string(coverage->compiled) + " operators |\n";
  return rows;
}

std::string other_rows(const ReproFacts &facts) {
  std::string rows;
  for (const auto &other : facts.others)
    rows += "| under " + markdown_text(other.name) + " | " + markdown_text(to_string(other)) + " |\n";
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

std::string passing_text(const ReproFacts &facts) {
  return facts.has_passing ? "; `passing.pt` is the closest program that passes" : "";
}

/// Of a backend that is used from Python: what `repro.cpp` is beside `repro.py`.
std::string repro_files(const std::string &folder) {
  const std::string files = "; `repro.py` is the same as one Python file (`python3 repro.py`)";
  if (!is_of_this_run(folder + "/repro.py"))
    return "; `repro.cpp` with `CMakeLists.txt` is the same as one C++ file";
  if (is_of_this_run(folder + "/model.pt2"))
    return files + ", and `repro.cpp` with `CMakeLists.txt` loads it as AOTInductor has compiled it (`model.pt2`)";
  return files + ". It shows from Python only: `repro.cpp` says why, and runs `repro.py`";
}

std::string how_to_build(const ReproFacts &facts, const std::string &folder) {
  if (!has_cpp(facts))
    return ".\n";
  return repro_files(folder) + ":\n\n" +
         markdown_fence("cmake -S . -B build -DCMAKE_PREFIX_PATH=\"$(python3 -c 'import torch; "
                        "print(torch.utils.cmake_prefix_path)')\"\ncmake --build build && ./build/repro\n",
                        "sh");
}

/// What each pass tried, what worked, what it cost.
std::string passes_table(const ReproFacts &facts) {
  std::string table =
      "| pass | turns | tried | worked | operators removed | checks | time |\n|---|---|---|---|---|---|---|\n";
  for (const auto &row : facts.passes)
    if (row.tried > 0)
      table += "| " + row.pass + " | " + std::to_string(row.runs) + " | " + std::to_string(row.tried) + " | " +
               std::to_string(row.worked) + " | " + std::to_string(row.operators_removed) + " | " +
               std::to_string(row.checks) + " | " + seconds(row.seconds) + " |\n";
  return "<details><summary>What each pass did</summary>\n\n" + table + "\n</details>\n\n";
}

std::string bisection_text(const ReproFacts &facts) {
  const std::string sentence = bisection_sentence(facts);
  if (sentence.empty())
    return "";
  const Bisection &bisection = *facts.bisection;
  return "**" + markdown_text(sentence) + "** " + markdown_text(bisection.note) + " (" +
         std::to_string(bisection.steps.size()) + " steps, " + std::to_string(bisection.checks.size()) + " checks, " +
         seconds(bisection.seconds) + ")\n\n";
}

/// docs/one-minimal.md has the definition.
std::string one_minimal_text(const ReproFacts &facts) {
  if (facts.not_reduced)
    return "no: not reduced";
  if (facts.one_minimal)
    return "yes: no single operator, input or output can go, and no single simplification of the list below applies";
  std::string text = "not shown: ";
  for (const auto &reason : facts.not_shown_because)
    text += (&reason == &facts.not_shown_because.front() ? "" : "; ") + markdown_text(reason);
  return text;
}

/// What was tried on the result, one by one, and no longer fails.
std::string simplifications_list(const ReproFacts &facts) {
  if (!facts.one_minimal)
    return "";
  std::string list;
  for (const auto &pass : list_reduction_passes())
    list += "- " + pass.name + ": " + markdown_text(pass.summary) + "\n";
  return "<details><summary>What does not apply any more</summary>\n\n" + list + "\n</details>\n\n";
}

/// What was found, and the program, or why it is not there.
std::string program_and_inputs(const Program &program, const ReproFacts &facts) {
  if (facts.not_reduced)
    return "`reduced.pt` is the model as it was given, and `inputs.pt` holds its inputs";
  return markdown_fence(program_text(program), "python") + "\n" + inputs_table(program) +
         "\n`reduced.pt` and `inputs.pt` hold this program";
}

std::string not_reduced_text(const ReproFacts &facts) {
  if (!facts.not_reduced)
    return "";
  return "**Not reduced: this is the model as it was given.** " + markdown_text(*facts.not_reduced) + "\n\n";
}

std::string report_markdown(const Program &program, const ReproFacts &facts, const std::string &folder) {
  std::ostringstream out;
  out << "# " << to_string(facts.signature.kind) << " failure under " << markdown_text(facts.backend->title()) << "\n\n"
      << not_reduced_text(facts) << bisection_text(facts) << markdown_text(facts.reduced.message) << "\n\n"
      << program_and_inputs(program, facts) << passing_text(facts) << how_to_build(facts, folder)
      << "\n| | |\n|---|---|\n"
      << "| PyTorch | " << markdown_text(facts.torch_version) << " |\n"
      << (missing_confinement().empty() ? "" : "| Not confined | " + markdown_text(missing_confinement()) + " |\n")
      << "| backend | " << markdown_text(facts.backend->name()) << (facts.check.grad ? ", with gradients" : "")
      << " |\n"
      << "| failure | " << markdown_text(to_string(facts.signature))
      << (facts.reduced.failing_call > 1 ? ", first wrong on call " + std::to_string(facts.reduced.failing_call) : "")
      << " |\n"
      << "| originally | " << markdown_text(facts.original.message) << " |\n"
      << (facts.original.left_out.empty() ? "" : "| not compared | " + markdown_text(facts.original.left_out) + " |\n")
      << "| size | " << facts.before.nodes << " nodes, " << facts.before.operators << " operators → "
      << facts.after.nodes << " nodes, " << facts.after.operators << " operators |\n"
      << "| flattened | " << markdown_text(facts.flatten_level)
      << (facts.hidden_by ? "; " + markdown_text(*facts.hidden_by) + " hides the failure" : "") << " |\n"
      << "| checks | " << facts.checks << " in " << seconds(facts.search_seconds) << " |\n"
      << "| 1-minimal | " << one_minimal_text(facts) << " |\n"
      << "| repro verified | " << verified_text(facts) << " |\n"
      << note_rows(facts) << other_rows(facts) << rate_row(facts) << "| settings | " << settings_text(facts) << " |\n\n"
      << (facts.not_reduced ? "Handed back" : passes_table(facts) + simplifications_list(facts) + "Minimised")
      << " by repro-minify " << facts.version << " from "
      << markdown_text(std::filesystem::path(facts.model_path).filename().string()) << ".\n";
  return out.str();
}

} // namespace

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
                   report_json(program, facts, folder).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  write_atomically(folder + "/report.md", report_markdown(program, facts, folder));
}

} // namespace repro_minify
