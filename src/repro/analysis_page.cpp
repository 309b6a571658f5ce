// analysis.html: where the values part.
#include "core/text.h"
#include "program/operator_libraries.h"
#include "repro/page.h"
#include "repro/render.h"
#include "repro/results_folder.h"
#include "repro/value_list.h"

#include <algorithm>

namespace repro_minify {
namespace {

/// How many values are not as they should be, by what becomes of them.
json counts_of(const Analysis &analysis) {
  json counts = json::array();
  for (const char *word : {"cause", "carrier", "fails here", "not reached", "differs", "fails"}) {
    const auto count = std::count_if(analysis.rows.begin(), analysis.rows.end(),
                                     [word](const AnalysisRow &row) { return word_of(row) == word; });
    if (count > 0)
      counts.push_back({{"count", count}, {"word", word}});
  }
  return counts;
}

std::string sentence_of(const Analysis &analysis) {
  if (analysis.first)
    return "First to fail: " + name_of(analysis.rows[static_cast<size_t>(*analysis.first)]);
  return analysis.verdict.outcome == Verdict::Outcome::Fail ? "No value fails by itself." : "Nothing fails.";
}

} // namespace

void write_analysis_page(const Analysis &analysis, const std::string &model, const std::string &backend,
                         const std::string &folder) {
  ValueList::Options options;
  options.prefix = "o";
  options.label = "the values of the model, in dataflow order";
  json values = {{"model", model},
                 {"backend", backend},
                 {"version", REPRO_MINIFY_VERSION},
                 {"torch_version", libtorch_version()},
                 {"sentence", sentence_of(analysis)},
                 {"message", analysis.verdict.message},
                 {"way", sentence_on_way(analysis)},
                 {"checks", counted(analysis.checks, "check")},
                 {"counts", counts_of(analysis)}};
  const json curve = error_curve_json(analysis.rows);
  values["curve"] = curve.is_null() ? "" : render("error_curve.svg.tpl", curve);
  values.update(graph_json(value_list(analysis, options), analysis));
  values.update(head_json());
  write_atomically(folder + "/analysis.html", render("analysis.html.tpl", values));
}

} // namespace repro_minify
