// The dataflow graph coloured by error, as DOT.
#include "core/dataflow.h"
#include "core/number_text.h"
#include "repro_minify/analysis.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace repro_minify {
namespace {

constexpr const char *unknown_fill = "#eeeeee";
constexpr const char *cause_fill = "#f4a6a0";
constexpr const char *carrier_fill = "#fbe3bd";

/// Green for an error no larger than eager's own, towards yellow as it uses up what is allowed.
std::string fill_of_error(const LeafReport &report) {
  double used = 0;
  if (!std::isnan(report.res_error) && report.res_error > report.ref_error) {
    const double allowed = report.multiplier * report.ref_error + 1e-12;
    used = std::clamp((report.res_error - report.ref_error) / allowed, 0.0, 1.0);
  }
  return "#" + padded_text(static_cast<std::uint64_t>(200 + 50 * used), 2, 16) + "f0be";
}

std::string fill_of(const AnalysisRow &row) {
  switch (row.part) {
  case AnalysisRow::Part::Cause:
    return cause_fill;
  case AnalysisRow::Part::Carrier:
    return carrier_fill;
  case AnalysisRow::Part::None:
    break;
  }
  return row.state == AnalysisRow::State::Same ? fill_of_error(row.report) : unknown_fill;
}

std::string label_of(const AnalysisRow &row) {
  std::string label = row.op + "\n" + row.value + " " + row.report.ref_type;
  if (!std::isnan(row.report.res_error))
    label +=
        "\nerror " + rounded_text(row.report.res_error, 2) + " (eager " + rounded_text(row.report.ref_error, 2) + ")";
  if (row.part != AnalysisRow::Part::None)
    label += "\n" + word_of(row);
  if (!row.source.empty())
    label += "\n" + row.source.substr(0, 60);
  return label;
}

} // namespace

std::string to_dot(const Analysis &analysis) {
  std::vector<std::pair<int, int>> edges;
  std::vector<std::string> labels, fills;
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    for (int read : analysis.rows[i].reads)
      if (read != static_cast<int>(i))
        edges.emplace_back(read, static_cast<int>(i));
    labels.push_back(label_of(analysis.rows[i]));
    fills.push_back(fill_of(analysis.rows[i]));
  }
  IndexSet marked;
  if (analysis.first)
    marked.push_back(*analysis.first);
  std::ostringstream out;
  Dataflow(static_cast<int>(analysis.rows.size()), edges).write_graphviz(out, labels, marked, fills);
  return out.str();
}

} // namespace repro_minify
