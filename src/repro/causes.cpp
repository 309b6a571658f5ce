#include "repro/intermediate.h"

#include <algorithm>

namespace repro_minify {
namespace {

using State = AnalysisRow::State;
using Part = AnalysisRow::Part;

/// A row before the first one fails in another way than the whole program, in a program of its own.
Part part_beside(std::optional<int> first, int row) {
  return !first || row < *first ? Part::None : row == *first ? Part::Cause : Part::Carrier;
}

} // namespace

bool is_bad(const AnalysisRow &row) {
  return row.state == State::Differs || row.state == State::Fails;
}

bool reads_wrong(const AnalysisRow &row, const std::vector<char> &is_wrong) {
  return std::any_of(row.reads.begin(), row.reads.end(),
                     [&](int read) { return is_wrong[static_cast<size_t>(read)] != 0; });
}

std::vector<size_t> rows_left_to_ask(const Analysis &analysis, const std::vector<bool> &as_the_whole,
                                     std::optional<size_t> failing) {
  const auto &rows = analysis.rows;
  std::vector<char> is_right(rows.size()), is_wanted(rows.size(), !failing);
  if (failing)
    is_wanted[*failing] = true;
  std::vector<size_t> left;
  for (size_t i = rows.size(); i-- > 0;) {
    const bool is_asked = rows[i].state != State::Unknown;
    is_right[i] |= is_asked && !as_the_whole[i];
    if (!is_asked && !is_right[i] && is_wanted[i])
      left.push_back(i);
    for (const int read : rows[i].reads) {
      is_right[static_cast<size_t>(read)] |= is_right[i];
      is_wanted[static_cast<size_t>(read)] |= is_wanted[i];
    }
  }
  std::reverse(left.begin(), left.end());
  return left;
}

void find_causes(Analysis &analysis, const std::vector<bool> &as_the_whole) {
  const bool raises = !is_comparison(analysis.verdict.signatures.front().kind);
  std::vector<char> is_wrong(analysis.rows.size());
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    AnalysisRow &row = analysis.rows[i];
    const int number = static_cast<int>(i);
    if (!analysis.first && (raises ? as_the_whole[i] : is_bad(row)))
      analysis.first = number;
    const bool is_carried = reads_wrong(row, is_wrong);
    const bool is_late = analysis.first && number > *analysis.first;
    if (!raises && is_late && row.state == State::Fails) { // what is wrong was so before it
      row.state = State::Same;
      row.message.clear();
    }
    if (is_bad(row))
      row.part = raises              ? part_beside(analysis.first, number)
                 : is_carried        ? Part::Carrier
                 : row.reads_written ? Part::None
                                     : Part::Cause;
    is_wrong[i] = is_bad(row) || (is_carried && row.state == State::Unknown);
  }
}

} // namespace repro_minify
