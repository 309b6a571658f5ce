#include "cli/results/analysis_text.h"

#include "core/number_text.h"
#include "core/text_table.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace repro_minify {
namespace {

constexpr const char *state_words[] = {"same", "DIFFERS", "RAISES", "-"};

std::string verdict_word(const AnalysisRow &row) {
  const std::string state = state_words[static_cast<int>(row.state)];
  return row.part == AnalysisRow::Part::None ? state : state + " (" + word_of(row) + ")";
}

std::string table_of(const Analysis &analysis) {
  std::vector<std::vector<std::string>> rows = {{"", "value", "operator", "type", "eager error", "opt. error",
                                                 "allowed x", "largest error", "verdict", "source"}};
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    const auto &row = analysis.rows[i];
    rows.push_back({analysis.first == static_cast<int>(i) ? ">" : "", clean(row.value), clean(row.op),
                    clean(row.report.ref_type), rounded_text(row.report.ref_error), rounded_text(row.report.res_error),
                    rounded_text(row.report.multiplier), rounded_text(row.report.max_abs_error), verdict_word(row),
                    clean(row.source)});
  }
  return table_text(rows);
}

/// Values that are wrong in a program of their own, where the whole one passes.
auto count_odd(const Analysis &analysis) {
  return std::count_if(analysis.rows.begin(), analysis.rows.end(), [](const AnalysisRow &row) {
    return row.state == AnalysisRow::State::Differs || row.state == AnalysisRow::State::Raises;
  });
}

void write_conclusion(std::ostream &out, const Analysis &analysis, const Verdict &original) {
  out << '\n' << clean(sentence_on_way(analysis)) << " (" << analysis.checks << " checks)\n";
  if (analysis.first) {
    const auto &row = analysis.rows[*analysis.first];
    out << "First to fail: " << clean(row.value) << " = " << clean(row.op)
        << (row.source.empty() ? "" : ", " + clean(row.source)) << "\n  " << clean(row.message) << '\n';
  } else if (original.outcome == Verdict::Outcome::Fail) {
    out << "No value fails by itself: " << clean(original.message) << '\n';
  } else {
    out << "Nothing fails.";
    if (const auto odd = count_odd(analysis); odd > 0)
      out << " (" << odd << " of the values inside fail in a program that ends there; no result of the model does.)";
    out << '\n';
  }
}

} // namespace

std::string analysis_text(const Analysis &analysis, const Verdict &original) {
  std::ostringstream out;
  out << table_of(analysis);
  write_conclusion(out, analysis, original);
  return out.str();
}

} // namespace repro_minify
