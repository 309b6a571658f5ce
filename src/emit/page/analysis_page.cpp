// analysis.html: where the values part.
#include "emit/atomic_file.h"
#include "emit/page/page.h"
#include "emit/page/policy.h"
#include "emit/page/value_list.h"
#include "emit/render.h"

#include <algorithm>

namespace repro_minify {
namespace {

using nlohmann::json;
using Part = AnalysisRow::Part;

long count_of(const Analysis &analysis, Part part) {
  return std::count_if(analysis.rows.begin(), analysis.rows.end(),
                       [part](const AnalysisRow &row) { return row.part == part; });
}

std::string sentence_of(const Analysis &analysis) {
  if (analysis.first) {
    const AnalysisRow &row = analysis.rows[static_cast<size_t>(*analysis.first)];
    return "First to fail: " + row.value + " = " + row.op + ".";
  }
  return analysis.verdict.outcome == Verdict::Outcome::Fail ? "No value fails by itself." : "Nothing fails.";
}

std::string way_of(const Analysis &analysis) {
  return analysis.way == Analysis::Way::Exposed
             ? "Every value was returned by one program."
             : "Each value was had from a program that ends there: " + analysis.why + ".";
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
                 {"way", way_of(analysis)},
                 {"checks", analysis.checks},
                 {"values", analysis.rows.size()},
                 {"drawn", list.drawn},
                 {"is_part", list.drawn < analysis.rows.size()},
                 {"causes", count_of(analysis, Part::Cause)},
                 {"carriers", count_of(analysis, Part::Carrier)},
                 {"graph", list.picture.svg},
                 {"no_graph_because", list.picture.problem},
                 {"entries", list.entries}};
  values.update(head_json());
  write_atomically(folder + "/analysis.html", render("analysis.html.tpl", values));
}

} // namespace repro_minify
