// analysis.html: where the values part.
#include "repro/page.h"
#include "repro/plots.h"
#include "repro/render.h"
#include "repro/results_folder.h"
#include "repro/value_list.h"

#include <algorithm>

namespace repro_minify {
namespace {

using nlohmann::json;

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

void write_analysis_page(const AnalysisPage &page, const std::string &folder) {
  const Analysis &analysis = page.analysis;
  ValueListOptions options;
  options.prefix = "o";
  options.label = "the values of the model, in dataflow order";
  const ValueList list = value_list(analysis, options);
  json values = {{"model", page.model},
                 {"backend", page.backend},
                 {"version", page.version},
                 {"torch_version", page.torch_version},
                 {"sentence", sentence_of(analysis)},
                 {"message", analysis.verdict.message},
                 {"way", sentence_on_way(analysis)},
                 {"checks", analysis.checks},
                 {"values", analysis.rows.size()},
                 {"drawn", list.drawn},
                 {"is_part", list.drawn < analysis.rows.size()},
                 {"counts", counts_of(analysis)},
                 {"legend", legend_json(list)},
                 {"graph", list.picture.svg},
                 {"no_graph_because", list.picture.problem},
                 {"entries", list.entries}};
  const json curve = error_curve_json(analysis.rows);
  values["curve"] = curve.is_null() ? "" : render("error_curve.svg.tpl", curve);
  values.update(head_json());
  write_atomically(folder + "/analysis.html", render("analysis.html.tpl", values));
}

} // namespace repro_minify
