#include "check/verdict_text.h"
#include "core/json.h"
#include "repro_minify/analysis.h"

namespace repro_minify {
namespace {

constexpr const char *states[] = {"same", "differs", "fails", "unknown"};
constexpr const char *parts[] = {nullptr, "cause", "carrier"};

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
          {"largest_error_at", worst_position_json(row.report)},
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

// The words of an analysis for people, the same on the terminal, on the pages and in the picture.

std::string word_of(const AnalysisRow &row) {
  using State = AnalysisRow::State;
  using Part = AnalysisRow::Part;
  const bool fails = row.state == State::Fails;
  if (row.part == Part::Cause)
    return fails ? "fails here" : "cause";
  if (row.part == Part::Carrier)
    return fails ? "not reached" : "carrier";
  if (row.state == State::Differs)
    return "differs";
  return fails ? "fails" : row.state == State::Same ? "agrees" : "not compared";
}

std::string sentence_on_way(const Analysis &analysis) {
  if (analysis.way == Analysis::Way::Prefixes)
    return "Each value was had from a program that ends there: " + analysis.why + ".";
  return analysis.checks <= 1
             ? "Every value was returned by one program."
             : "Every value was returned by one program; what differed there was asked again in a program that ends "
               "there.";
}

std::string name_of(const AnalysisRow &row) {
  return row.op + ", " + (row.source.empty() ? row.value : row.source);
}

} // namespace repro_minify
