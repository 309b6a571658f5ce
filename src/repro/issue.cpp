// issue.md: pasted into an issue tracker as it is.
#include "check/leaf_showing.h"
#include "core/files.h"
#include "core/number_text.h"
#include "program/python_call.h"
#include "repro/ablation_names.h"
#include "repro/atomic_file.h"
#include "repro/render.h"
#include "repro/repro_words.h"
#include "repro/results_folder.h"
#include "repro/triage.h"

#include <cmath>
#include <filesystem>
#include <set>

namespace repro_minify {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr size_t most_title = 256, most_body = 65536; // GitHub's

std::string shortened(const std::string &text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most) + " ...";
}

/// "batch_norm, linear", each once, the last first: that is where the result comes from.
std::string operators_in_words(const Program &program) {
  std::string text;
  std::set<std::string> seen;
  for (const auto *node : program.graph->nodes().reverse())
    if (counts_as_operator(node) && seen.insert(short_operator_name(node)).second)
      text += (text.empty() ? "" : ", ") + short_operator_name(node);
  return text;
}

/// Text from a model in one line that begins no mark-up.
std::string issue_title(const Program &program, const ReproFacts &facts) {
  std::string state;
  if (facts.interrupted)
    state = "INTERRUPTED, NOT VERIFIED: ";
  else if (!facts.verified.value_or(false) && !facts.script.verified.value_or(false))
    state = "NOT VERIFIED: ";
  std::string headline_text = headline(facts);
  if (headline_text.ends_with('.'))
    headline_text.pop_back();
  const std::string operators = operators_in_words(program);
  std::string text = state + headline_text + (operators.empty() ? "" : " (" + operators + ")");
  for (char &c : text)
    c = static_cast<unsigned char>(c) < 32 || c == '`' || c == '<' ? ' ' : c;
  return text.substr(0, most_title);
}

/// The error of either side, where float64 was there to ask.
std::string why_eager_is_right(const ReproFacts &facts) {
  if (!is_comparison(facts.signature.kind))
    return "Eager runs the same program without an exception.";
  const LeafReport *leaf = leaf_showing(facts.reduced, facts.signature);
  if (leaf && !std::isnan(leaf->ref_error) && (leaf->ref_error != 0 || leaf->res_error != 0)) // 0, 0: no numbers
    return "Against a float64 run of the same program eager is off by " + rounded_text(leaf->ref_error) +
           ", the optimised result by " +
           (std::isnan(leaf->res_error) ? std::string("what is no number") : rounded_text(leaf->res_error)) +
           " (root mean square).";
  return "float64 has no say in it: eager's result is what the operators are documented to give.";
}

std::string warning_of(const ReproFacts &facts) {
  if (facts.interrupted)
    return "The minimisation was interrupted, and nothing was verified.";
  if (facts.verified && !*facts.verified && !facts.script.verified.value_or(false))
    return "The repro did not verify: " + facts.verify_message;
  if (!facts.verified && !facts.script.verified)
    return "The repro was not verified" + (facts.verify_message.empty() ? "." : ": " + facts.verify_message);
  return "";
}

json ablation_json(const ReproFacts &facts) {
  json rows = json::array();
  for (const auto &row : facts.ablation)
    rows.push_back({{"what", row.what}, {"outcome", shortened(row.result, 300)}});
  return rows;
}

json labels_json(const ReproFacts &facts, const std::vector<std::string> &reasons) {
  json rows = json::array();
  for (const auto &label : proposed_labels(facts, reasons))
    rows.push_back({{"label", label.label}, {"why", label.why}});
  return rows;
}

json code_values(const ReproFacts &facts, const std::string &folder) {
  const std::string script = folder + "/repro.py";
  if (is_of_this_run(script))
    return {{"script", read_file(script)}};
  const std::string why = facts.script.message.empty() ? "repro.py was not written" : facts.script.message;
  const std::string cpp = folder + "/repro.cpp";
  return {
      {"script", ""}, {"no_script_because", shortened(why, 300)}, {"cpp", is_of_this_run(cpp) ? read_file(cpp) : ""}};
}

std::string versions_of(const ReproFacts &facts) {
  return facts.environment.empty() ? "PyTorch version: " + facts.torch_version + " (LibTorch)"
                                   : shortened(facts.environment, 12000);
}

/// Its own rows are many, and none of that name.
bool is_said_of_inductor(const ReproFacts &facts) {
  return facts.backend->name() == "inductor" || has_row(facts, ablation_names::inductor);
}

/// For the tracker of another project; empty where it is PyTorch's.
std::string tracker_issue_text(const Program &program, const ReproFacts &facts, const std::string &folder) {
  const json code = code_values(facts, folder);
  const IssueContents contents{
      .problem = {{"sentence", headline(facts)},
                  {"guilty", facts.bisection && facts.bisection->guilty ? bisection_sentence(facts) : ""},
                  {"found", shortened(facts.reduced.message, 2000)},
                  {"why_eager", why_eager_is_right(facts)}},
      .script = code.value("script", ""),
      .why_no_script = code.value("no_script_because", ""),
      .log = shortened(facts.reduced.message, 4000)};
  const TrackerForm form = form_of_tracker(facts, contents, folder);
  if (form.fields.empty())
    return "";
  return render("tracker_issue.md.tpl", {{"title", form.title + issue_title(program, facts)},
                                         {"warning", warning_of(facts)},
                                         {"fields", form.fields},
                                         {"version", facts.version},
                                         {"model", facts.anonymous ? "" : fs::path(facts.model_path).stem().string()},
                                         {"operators_before", facts.before.operators},
                                         {"operators_after", facts.after.operators}});
}

std::string issue_text(const Program &program, const ReproFacts &facts, const std::string &folder) {
  if (std::string text = tracker_issue_text(program, facts, folder); !text.empty())
    return text;
  const std::vector<std::string> reasons = preflight(program, facts);
  json values = {{"title", issue_title(program, facts)},
                 {"warning", warning_of(facts)},
                 {"sentence", headline(facts)},
                 {"guilty", facts.bisection && facts.bisection->guilty ? bisection_sentence(facts) : ""},
                 {"found", shortened(facts.reduced.message, 2000)},
                 {"why_eager", why_eager_is_right(facts)},
                 {"graph", mermaid_graph(program, facts)},
                 {"inductor_not_asked", !is_said_of_inductor(facts)},
                 {"has_ablation", !facts.ablation.empty()},
                 {"ablation", ablation_json(facts)},
                 {"labels", labels_json(facts, reasons)},
                 {"reasons", reasons},
                 {"logs", shortened(facts.reduced.message, 4000)},
                 {"versions", versions_of(facts)},
                 {"version", facts.version},
                 {"model", facts.anonymous ? "" : fs::path(facts.model_path).stem().string()},
                 {"operators_before", facts.before.operators},
                 {"operators_after", facts.after.operators}};
  values.update(code_values(facts, folder));
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
    text = shortened(text, most_body - 16);
  write_atomically(folder + "/issue.md", text);
}

} // namespace repro_minify
