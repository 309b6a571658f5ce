// issue.md: pasted into an issue tracker as it is.
#include "check/verdict_text.h"
#include "core/escape.h"
#include "core/files.h"
#include "core/number_text.h"
#include "core/text.h"
#include "repro/render.h"
#include "repro/reported.h"
#include "repro/results_folder.h"
#include "repro/triage.h"
#include "repro/workaround.h"

#include <cmath>
#include <filesystem>
#include <map>

namespace repro_minify {
namespace {

constexpr size_t most_title = 256, most_body = 65536; // GitHub's
constexpr size_t most_of_imported = 8192;             // bytes of a file

std::string cut_to(const std::string &text, size_t most) {
  return text.size() <= most ? text : cut_at_character(text, most) + " ...";
}

std::string issue_title(const Program &program, const ReproFacts &facts) {
  std::string state;
  if (facts.interrupted)
    state = facts.script.verified.value_or(false) ? "INTERRUPTED: " : "INTERRUPTED, NOT VERIFIED: ";
  else if (!is_verified(facts))
    state = "NOT VERIFIED: ";
  return cut_at_character(clean(state + headline(program, facts)), most_title);
}

/// Says it in the words of PyTorch's own rule, `same` of torch._dynamo.utils; empty where it measures nothing.
std::string why_eager_is_right(const ReproFacts &facts) {
  if (!is_comparison(facts.signature.kind)) // the script of TorchInductor's has it as a comment
    return is_inductor(facts) ? "" : "Eager runs the same program without an exception.";
  const LeafReport *leaf = leaf_showing(facts.reduced, facts.signature);
  const auto error = [](double value) { return std::isnan(value) ? "no number" : rounded_text(value); };
  if (leaf && !std::isnan(leaf->ref_error) && (leaf->ref_error != 0 || leaf->res_error != 0)) // 0, 0: no numbers
    return "`torch._dynamo.utils.same` with `fp64_ref`: RMSE of eager " + error(leaf->ref_error) + ", of " +
           markdown_text(facts.backend->title()) + " " + error(leaf->res_error) + ".";
  return "";
}

/// The same for people who do not know that rule.
std::string why_eager_is_right_in_plain_words(const ReproFacts &facts) {
  if (!is_comparison(facts.signature.kind))
    return "Eager PyTorch runs the same program without an exception.";
  const LeafReport *leaf = leaf_showing(facts.reduced, facts.signature);
  if (leaf && std::isfinite(leaf->ref_error) && std::isfinite(leaf->res_error) && leaf->res_error != 0)
    return "Against the same program in float64, the root of the mean squared error of eager PyTorch is " +
           rounded_text(leaf->ref_error) + ", of " + markdown_text(facts.backend->title()) + " " +
           rounded_text(leaf->res_error) + ".";
  return "What is expected is what eager PyTorch gives, as its operators are documented.";
}

std::string warning_of(const ReproFacts &facts) {
  if (facts.interrupted)
    return facts.script.verified.value_or(false) ? "The minimisation was interrupted. The script was run and fails as "
                                                   "is said; repro.cpp was not verified."
                                                 : "The minimisation was interrupted, and nothing was verified.";
  if (is_verified(facts))
    return "";
  if (facts.verified)
    return "The repro did not verify: " + facts.verify_message;
  return "The repro was not verified" + (facts.verify_message.empty() ? "." : ": " + facts.verify_message);
}

/// True if the row is a setting of TorchInductor under which it fails as it does without: that tells nothing apart.
bool is_as_ever(const AblationRow &row) {
  return row.fails.value_or(false) && row.what.starts_with(std::string(ablation_names::inductor) + ", ");
}

/// A row for each outcome, the failing ones first. What has no answer tells a reader nothing, but for TorchInductor.
json ablation_json(const ReproFacts &facts) {
  std::map<std::pair<int, std::string>, std::vector<std::string>> rows;
  for (const auto &row : facts.ablation) {
    const int order = row.fails.value_or(false) ? 0 : row.fails ? 1 : 2;
    if ((row.has_answer || row.what == ablation_names::inductor) && !(is_inductor(facts) && is_as_ever(row)))
      rows[{order, row.result}].push_back(row.what);
  }
  json list = json::array();
  for (const auto &[outcome, what] : rows) {
    std::string words = cut_to(outcome.second, 300);
    words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
    list.push_back({{"outcome", words}, {"what", joined(what, "; ")}});
  }
  return list;
}

json labels_json(const ReproFacts &facts) {
  json rows = json::array();
  for (const auto &label : proposed_labels(facts))
    rows.push_back({{"label", label.label}, {"why", label.why}});
  return rows;
}

json reasons_json(const std::vector<std::string> &reasons) {
  json rows = json::array();
  for (const auto &reason : reasons)
    rows.push_back({{"why", reason}, {"is_first", rows.empty()}});
  return rows;
}

/// The same without the comment that it begins with, which says what stands above it.
std::string without_heading(const std::string &script) {
  size_t at = 0;
  while (at < script.size() && script[at] == '#')
    at = std::min(script.find('\n', at), script.size() - 1) + 1;
  return script.substr(std::min(script.find_first_not_of('\n', at), script.size()));
}

/// The files that repro.py imports, which register operators: without them it runs on no other machine.
json imported_json(const std::string &folder) {
  std::map<std::string, fs::path> files; // in an order that is always the same
  std::error_code none;
  for (const auto &entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ".py" && is_of_this_run(entry.path()) && entry.file_size(none) <= most_of_imported)
      files[entry.path().filename().string()] = entry.path();
  files.erase("repro.py");
  files.erase("test_repro.py");
  json list = json::array();
  for (const auto &[name, path] : files)
    list.push_back({{"name", name}, {"code", read_file(path)}});
  return list;
}

json code_values(const ReproFacts &facts, const std::string &folder) {
  const std::string script = folder + "/repro.py";
  if (is_of_this_run(script))
    return {{"script", without_heading(read_file(script))}, {"imported", imported_json(folder)}};
  const std::string none = facts.verify ? "repro.py was not written" : "--no-verify leaves it out";
  const std::string why = facts.script.message.empty() ? none : facts.script.message;
  const std::string cpp = folder + "/repro.cpp";
  return {{"script", ""}, {"no_script_because", cut_to(why, 300)}, {"cpp", is_of_this_run(cpp) ? read_file(cpp) : ""}};
}

/// Returns what collect_env says, and apart from it what it says of the processor, without its vulnerabilities.
json versions_json(const ReproFacts &facts) {
  if (facts.environment.empty())
    return {{"versions", "PyTorch version: " + facts.torch_version + " (LibTorch)"}, {"processor", ""}};
  std::string versions, processor;
  bool of_processor = false;
  for (const std::string &line : split_lines(facts.environment)) {
    of_processor = line == "CPU:" || (of_processor && !line.empty());
    if (!line.starts_with("Vulnerability "))
      (of_processor ? processor : versions) += line + "\n";
  }
  return {{"versions", cut_to(versions, 8000)}, {"processor", cut_to(processor, 4000)}};
}

/// Returns the printed lines and the exception of repro.py.
std::string logs_of(const ReproFacts &facts) {
  return cut_to(facts.script.shown.empty() ? facts.reduced.message : facts.script.shown, 4000);
}

/// Its own rows are many, and none of that name.
bool is_said_of_inductor(const ReproFacts &facts) {
  return is_inductor(facts) || has_row(facts, ablation_names::inductor);
}

/// The values that both templates have.
json common_values(const Program &program, const ReproFacts &facts) {
  return {{"title", issue_title(program, facts)},
          {"warning", warning_of(facts)},
          {"version", facts.version},
          {"how_made", facts.not_reduced ? "Handed back as it was given" : "Reduced"},
          {"model", facts.anonymous ? "" : fs::path(facts.model_path).stem().string()},
          {"operators_before", counted(facts.before.operators, "operator")},
          {"operators_after", facts.after.operators}};
}

/// For the tracker of another project; empty where it is PyTorch's.
std::string tracker_issue_text(const Program &program, const ReproFacts &facts, const std::string &folder) {
  const json code = code_values(facts, folder);
  const std::string how = explanation_sentence(facts);
  const IssueContents contents{
      .problem = {{"sentence", sentence(program, facts) + (how.empty() ? "" : " " + how)},
                  {"guilty", facts.bisection && facts.bisection->guilty ? facts.bisection->note : ""},
                  {"why_eager", why_eager_is_right_in_plain_words(facts) + nature_sentence(facts)}},
      .script = code.value("script", ""),
      .why_no_script = code.value("no_script_because", ""),
      .log = logs_of(facts)};
  const TrackerForm form = form_of_tracker(facts, contents, folder);
  if (form.fields.empty())
    return "";
  json values = common_values(program, facts);
  values.update({{"title", form.title + issue_title(program, facts)}, {"fields", form.fields}});
  return render("tracker_issue.md.tpl", values);
}

/// That eager is right can be said of every failure.
bool leaves_it_to_eager(const ReproFacts &facts) {
  return facts.workaround && facts.workaround->kind == Workaround::Kind::Eager;
}

std::string issue_text(const Program &program, const ReproFacts &facts, const std::string &folder) {
  if (std::string text = tracker_issue_text(program, facts, folder); !text.empty())
    return text;
  const std::vector<std::string> reasons = preflight(program, facts);
  json values = {{"heading_bug", is_for_pytorch(facts) ? "🐛 Describe the bug" : "Describe the bug"},
                 {"evidence", evidence(program, facts)},
                 {"generated", generated_code_json(facts)},
                 {"torch_version", facts.torch_version},
                 {"why_eager", why_eager_is_right(facts)},
                 {"workaround", leaves_it_to_eager(facts) ? "" : workaround_sentence(facts)},
                 {"inductor_not_asked", !is_said_of_inductor(facts) && !facts.ablation.empty()},
                 {"ablation", ablation_json(facts)},
                 {"labels", labels_json(facts)},
                 {"reasons", reasons_json(reasons)},
                 {"logs", logs_of(facts)}};
  for (const json &part : {common_values(program, facts), code_values(facts, folder), versions_json(facts)})
    values.update(part);
  return render("issue.md.tpl", values);
}

} // namespace

void write_issue(const Program &program, const ReproFacts &facts, const std::string &folder) {
  const auto fits = [](const std::string &text) { return text.size() - text.find('\n') <= most_body; };
  std::string text = issue_text(program, facts, folder);
  if (!fits(text)) { // what the tool knows of the machine is not what the report is about
    ReproFacts fewer = facts;
    fewer.environment.clear();
    text = issue_text(program, fewer, folder);
  }
  if (!fits(text))
    text = cut_to(text, most_body - 16);
  write_atomically(folder + "/issue.md", text);
}

} // namespace repro_minify
