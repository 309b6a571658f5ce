#include "core/json.h"
#include "core/text.h"
#include "repro_minify/analysis.h"

namespace repro_minify {
namespace {

constexpr const char *states[] = {"same", "differs", "fails", "unknown"};
constexpr const char *parts[] = {nullptr, "cause", "carrier"};

json worst_position(const LeafReport &report) {
  if (report.worst_index < 0 || !report.ref_form)
    return nullptr;
  return position_of(report.worst_index, report.ref_form->sizes);
}

json row_json(const AnalysisRow &row) {
  const char *part = parts[static_cast<int>(row.part)];
  return {{"value", row.value},
          {"operator", row.op},
          {"source", row.source},
          {"reads", row.reads},
          {"state", states[static_cast<int>(row.state)]},
          {"part", part ? json(part) : json(nullptr)},
          {"type", row.report.ref_type},
          {"eager_error", json_number(row.report.ref_error)},
          {"optimised_error", json_number(row.report.res_error)},
          {"allowed_multiplier", json_number(row.report.multiplier)},
          {"largest_error", json_number(row.report.max_abs_error)},
          {"largest_error_at", row.report.worst_index},
          {"largest_error_position", worst_position(row.report)},
          {"message", row.message}};
}

} // namespace

std::string to_json(const Analysis &analysis) {
  json rows = json::array();
  for (const auto &row : analysis.rows)
    rows.push_back(row_json(row));
  const json result = {{"way", analysis.way == Analysis::Way::Exposed ? "exposed" : "prefixes"},
                       {"why", analysis.why},
                       {"first", analysis.first ? json(*analysis.first) : json(nullptr)},
                       {"checks", analysis.checks},
                       {"verdict", json::parse(to_json(analysis.verdict))},
                       {"values", rows}};
  return result.dump(2, ' ', true, json::error_handler_t::replace);
}

} // namespace repro_minify
