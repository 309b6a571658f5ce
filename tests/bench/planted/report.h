// Tables, planted.json and planted.csv.
#pragma once
#include "bench/planted/measure.h"

#include <string>
#include <vector>

namespace repro_minify::bench {

/// One line per row, one column per tool: queries, and nodes left where they are not those needed.
void print_table(const std::string &title, const std::vector<Measurement> &measurements);
/// Adds to the array of rows in `path`; a row of the same name and tool is replaced.
void append_json(const std::string &path, const std::vector<Measurement> &measurements);
void write_csv(const std::string &path, const std::vector<Measurement> &measurements);

} // namespace repro_minify::bench
