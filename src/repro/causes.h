// Which values of a failing program are causes, and which only carry what is wrong before them.
#pragma once

#include "repro_minify/analysis.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace repro_minify {

/// True if the value is wrong, or the program that ends at it fails.
bool is_bad(const AnalysisRow &row);

/// True if the row is made from one that is wrong; `is_wrong` is by row.
bool reads_wrong(const AnalysisRow &row, const std::vector<char> &is_wrong);

/// Returns the rows at which a program that raises may begin to raise, and which were not asked yet, in order: those
/// that no passing row is made from, and that row `failing` is made from, if one is known to fail. `as_the_whole`, by
/// row: the program that ends there has the Signature of the whole one.
std::vector<std::size_t> rows_left_to_ask(const Analysis &analysis, const std::vector<bool> &as_the_whole,
                                          std::optional<std::size_t> failing);

/// Sets the first failing row of a program that fails, and the part that each row has in the failure: a value that is
/// wrong while all that it is made from is right is a cause, one that is made from something wrong carries it. A value
/// that is not known hands on what it is made from. In a program that raises, the first row that raises as the whole
/// does is the only cause, and all after it carry it.
void find_causes(Analysis &analysis, const std::vector<bool> &as_the_whole);

} // namespace repro_minify
