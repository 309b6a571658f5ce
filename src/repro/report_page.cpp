// report.html: the findings of report.md, and the pictures that go with them.
#include "core/origins.h"
#include "repro/code.h"
#include "repro/page.h"
#include "repro/render.h"
#include "repro/reported.h"
#include "repro/results_folder.h"
#include "repro/shown_value.h"
#include "repro/triage.h"
#include "repro/value_list.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace repro_minify {
namespace {

constexpr size_t most_code = 100'000;      ///< bytes of a program that is shown; what was reduced has a few hundred
constexpr double seconds_for_values = 10;  ///< that the checks for a picture may take
constexpr int niceness_beside_others = 10; ///< a tenth of a processor where there is no idle one

/// True if both sides can be run once more at no great cost.
bool can_compare(const ReportPage &page) {
  const FailureKind kind = page.facts.signature.kind;
  return page.may_run && !(page.interrupted && page.interrupted()) && kind != FailureKind::Hang &&
         kind != FailureKind::Memory && kind != FailureKind::Interesting;
}

/// Null where that would take too long, or nothing is to be run: the graph has to do without its values.
std::shared_ptr<Analyzer> begin(const ReportPage &page, const std::shared_ptr<const Recording> &recording,
                                const Verdict &verdict, int elements, int niceness = 0) {
  const double affordable = seconds_for_values / std::max(0.05, verdict.wall_seconds);
  if (!can_compare(page) || affordable < 3) // one check, both sides once more, and some for luck
    return nullptr;
  AnalyzeOptions options;
  options.check = page.facts.check;
  options.limits = page.limits;
  options.limits.niceness = niceness;
  options.most_checks = static_cast<int>(std::min(24.0, affordable));
  options.most_values = 1500;
  options.shown_elements = elements;
  options.interrupted = page.interrupted;
  try {
    return std::make_shared<Analyzer>(verdict, page.facts.backend, options, recording);
  } catch (const std::exception &) { // a missing picture does not stop the report
    return nullptr;
  }
}

Analysis end(const std::shared_ptr<Analyzer> &under_way, const Recording &recording) {
  try {
    if (under_way)
      return under_way->take();
  } catch (const Interrupted &) {
  } catch (const std::exception &) {
  }
  return outline(recording);
}

/// Returns the analysis of the program that is handed over. Empty if it was not reduced or cannot be recorded.
Analysis reduced_analysis(const ReportPage &page) {
  if (page.facts.not_reduced)
    return {};
  try {
    const auto recording = std::make_shared<Recording>(
        record(page.program, run_settings(*page.facts.backend, page.facts.check), page.limits));
    return end(begin(page, recording, page.facts.reduced, 16), *recording);
  } catch (const std::exception &) {
    return {};
  }
}

/// True if the failure shows in values: a program that raises or crashes has none. The reduced program tells where it
/// fails, and each check is a compilation.
bool has_wrong_values(const ReportPage &page) {
  return is_comparison(page.facts.signature.kind);
}

/// Both graphs, and how they belong together.
struct Graphs {
  Analysis reduced, original;
  ValueList::Options reduced_options, original_options;
};

/// A program that hangs or exhausts memory is not run again, but where it has a single value it is known which.
void mark_single_value(const ReportPage &page, Analysis &reduced) {
  const bool ends = !has_wrong_values(page) && page.facts.signature.kind != FailureKind::Interesting;
  if (!ends || reduced.first || reduced.rows.size() != 1)
    return;
  AnalysisRow &row = reduced.rows.front();
  row.state = AnalysisRow::State::Fails;
  row.part = AnalysisRow::Part::Cause;
  row.message = page.facts.reduced.message;
  reduced.first = 0;
}

/// Where the reduced program raises, the original does: `from` is where each value of the reduced one came from.
void mark_what_raises(Graphs &graphs, const std::vector<int> &from) {
  if (!graphs.reduced.first)
    return;
  const auto first = static_cast<size_t>(*graphs.reduced.first);
  if (first >= from.size() || from[first] < 0)
    return;
  AnalysisRow &row = graphs.original.rows.at(static_cast<size_t>(from[first]));
  row.state = AnalysisRow::State::Fails;
  row.part = AnalysisRow::Part::Cause;
  row.message = graphs.reduced.rows.at(first).message;
  graphs.original.first = from[first];
}

std::vector<OperatorPlace> places_of(const Analysis &analysis) {
  std::vector<OperatorPlace> places;
  for (const AnalysisRow &row : analysis.rows)
    places.push_back({row.op, row.value, row.source});
  return places;
}

Graphs graphs_of(const ReportPage &page) {
  Graphs graphs;
  graphs.reduced = reduced_analysis(page);
  mark_single_value(page, graphs.reduced);
  if (page.original)
    graphs.original = end(page.original_analysis, *page.original);
  graphs.original_options.prefix = "o";
  graphs.original_options.interrupted = graphs.reduced_options.interrupted = page.interrupted;
  graphs.original_options.label = "the graph of the original";
  graphs.original_options.kept.assign(graphs.original.rows.size(), 0);
  graphs.reduced_options.prefix = "r";
  graphs.reduced_options.label = "the graph of the reduced program";
  graphs.reduced_options.draws_parameters = true;
  graphs.reduced_options.shown_elements = 16;
  const std::vector<int> from = find_origins(places_of(graphs.reduced), places_of(graphs.original));
  if (page.original && !has_wrong_values(page))
    mark_what_raises(graphs, from);
  for (const int origin : from) {
    graphs.reduced_options.keys.push_back(origin < 0 ? "" : "o" + std::to_string(origin));
    if (origin >= 0)
      graphs.original_options.kept[static_cast<size_t>(origin)] = 1;
  }
  return graphs;
}

/// `source`: the whole program.
json code_json(const ReportPage &page, const Graphs &graphs, const std::string &source) {
  if (source.size() > most_code)
    return json::array(
        {json{{"text", source.substr(0, most_code) + "\n... (reduced.pt has the rest)\n"}, {"key", ""}}});
  std::map<std::string, size_t> rows;
  for (size_t i = 0; i < graphs.reduced.rows.size(); ++i)
    rows[graphs.reduced.rows[i].value] = i;
  json pieces = json::array();
  for (const auto &piece : code_pieces(page.program)) {
    const auto row = rows.find(piece.value);
    json made = {{"text", piece.text}, {"key", ""}};
    if (row != rows.end())
      made.update(
          {{"key", key_of(graphs.reduced_options, row->second)}, {"anchor", "r" + std::to_string(row->second)}});
    pieces.push_back(std::move(made));
  }
  return pieces;
}

/// The original's graph is drawn for what it says of the failure: a hang of which nothing is kept has boxes alone.
json original_graph_json(const ReportPage &page, const Graphs &graphs) {
  if (!page.original)
    return nullptr;
  ValueList list = value_list(graphs.original, graphs.original_options);
  if (list.legend.size() == 1 && list.legend.front().at("classes") == "unknown")
    list.picture = {"", "no value was compared, and none is kept in the reduced program"};
  return graph_json(list, graphs.original);
}

/// The leaves that are wrong, each with its values.
json wrong_leaves(const std::vector<LeafReport> &leaves, const std::vector<ShownValue> &values,
                  const std::string &what) {
  json list = json::array();
  for (size_t i = 0; i < leaves.size() && leaves.size() == values.size(); ++i)
    if (!leaves[i].same && values[i].elements > 0)
      list.push_back({{"what", what + leaves[i].path},
                      {"message", leaves[i].message},
                      {"picture", render("values.html.tpl", values_json(values[i], 32))}});
  return list;
}

json values_of_both_sides(const ReportPage &page) {
  if (!can_compare(page) || page.facts.not_reduced || !has_wrong_values(page))
    return json::array();
  ShowOptions show;
  show.call = std::max(1, page.facts.reduced.failing_call);
  show.elements = 32;
  const BothSides sides = both_sides(factory_of(std::make_shared<Program>(page.program)), page.facts.backend,
                                     page.facts.check, show, page.limits);
  json list = wrong_leaves(page.facts.reduced.outputs, sides.outputs, "output");
  for (auto &leaf : wrong_leaves(page.facts.reduced.gradients, sides.gradients, "gradient of "))
    list.push_back(std::move(leaf));
  return list;
}

/// Returns the warnings that a reader of the page must see first; empty if all is as it should be.
json warnings_of(const ReproFacts &facts, bool was_interrupted) {
  json list = json::array();
  if (facts.interrupted)
    list.push_back(std::string("This run was interrupted: this is the best so far, and ") +
                   (facts.script.verified.value_or(false) ? "repro.py alone was verified" : "nothing was verified") +
                   ". Give --resume to go on.");
  else if (facts.verified && !*facts.verified)
    list.push_back("The repro did not verify: " + facts.verify_message);
  else if (!facts.verified)
    list.push_back("The repro was not verified: " +
                   (facts.verify_message.empty() ? "it was not built and run (--no-verify)" : facts.verify_message) +
                   ".");
  if (was_interrupted && !facts.interrupted && !facts.out_of_time && facts.verified.value_or(false))
    list.push_back("The run was interrupted after it was verified: pictures are missing, and other settings were not "
                   "tried.");
  if (facts.out_of_time)
    list.push_back("The time budget was spent: this is the best so far. Give --resume to go on.");
  if (facts.not_reduced)
    list.push_back("Not reduced: this is the model as it was given. " + *facts.not_reduced);
  return list;
}

json files_that_are_there(const std::string &folder) {
  json list = json::array();
  for (const char *name :
       {"repro.py", "test_repro.py", "repro.cpp", "reduced.pt", "passing.pt", "issue.md", "report.md", "report.json"})
    if (is_of_this_run(folder + "/" + name))
      list.push_back(name);
  return list;
}

/// The values of the first screen: expected, found, and what to do about it.
json story_of(const ReproFacts &facts, const std::string &folder) {
  const BothValues both = both_values(facts);
  const std::string at = both.place.empty() ? "" : " at " + both.place;
  json values = {{"expected", both.expected.empty() ? "" : both.expected + at},
                 {"found_in_words", both.found.empty() ? facts.reduced.message : both.found + at},
                 {"report_as", nullptr},
                 {"advice", is_verified(facts) && !facts.interrupted ? "reduced.pt is what was looked for"
                                                                     : "See below what was not verified"},
                 {"test", nullptr}};
  if (is_verified(facts) && !facts.interrupted && has_issue(facts))
    values["report_as"] = {{"value", "issue.md"}};
  if (is_of_this_run(folder + "/test_repro.py"))
    values["test"] = {{"value", "test_repro.py"}};
  return values;
}

json passes_with_bars(const ReproFacts &facts, json rows) {
  constexpr double width = 160;
  std::map<std::string, int> removed;
  int most = 1;
  for (const auto &row : facts.passes) {
    removed[row.pass] = row.operators_removed;
    most = std::max(most, row.operators_removed);
  }
  for (auto &row : rows)
    row["length"] = std::lround(width * std::max(0, removed[row.at("pass").get<std::string>()]) / most);
  return rows;
}

} // namespace

std::shared_ptr<Analyzer> begin_original(const ReportPage &page, const Verdict &verdict) {
  const bool runs = page.original && has_wrong_values(page);
  return runs ? begin(page, page.original, verdict, 16, niceness_beside_others) : nullptr;
}

void write_report_page(const ReportPage &page, const std::string &folder) {
  const ReproFacts &facts = page.facts;
  const Graphs graphs = graphs_of(page);
  json values = report_values(page.program, facts, folder);
  values["sentence"] = headline(page.program, facts);
  values["warnings"] = warnings_of(facts, page.interrupted && page.interrupted());
  values["verifies"] = facts.verified.value_or(false) && !facts.interrupted;
  values["verified_how"] =
      is_of_this_run(folder + "/repro.cpp") && facts.verify_message.empty() ? "built and run" : "run";
  values["code"] = code_json(page, graphs, values.at("program"));
  values["both_sides"] = values_of_both_sides(page);
  std::string because = is_comparison(facts.signature.kind) ? "" : facts.reduced.message;
  values["no_values_because"] = because.ends_with('.') ? because.substr(0, because.size() - 1) : because;
  values["reduced_graph"] = graph_json(value_list(graphs.reduced, graphs.reduced_options), graphs.reduced);
  values["original_graph"] = original_graph_json(page, graphs);
  values["passes"] = passes_with_bars(facts, values["passes"]);
  std::vector<CoursePoint> points = page.course;
  if (!points.empty() && points.back().operators != facts.after.operators) // the last check found something better
    points.push_back({facts.checks, facts.after.operators, points.back().pass});
  const json course = course_json(points, facts.before.operators);
  values["course"] = course.is_null() ? "" : render("course.svg.tpl", course);
  const bool is_short = values.at("program").get_ref<const std::string &>().size() <= most_code;
  values["difference"] =
      page.passing && is_short ? json{{"lines", difference_json(page.program, *page.passing)}} : json(nullptr);
  values["files"] = files_that_are_there(folder);
  for (const json &part : {story_of(facts, folder), head_json()})
    values.update(part);
  write_atomically(folder + "/report.html", render("report.html.tpl", values));
}

} // namespace repro_minify
