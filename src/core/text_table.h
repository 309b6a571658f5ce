// Tables for people, as text.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// Text from a model must not move the cursor.
std::string clean(const std::string &text);

/// Columns as wide as their widest cell, one line for each row. The first row is the heading.
std::string table_text(const std::vector<std::vector<std::string>> &rows);

} // namespace repro_minify
