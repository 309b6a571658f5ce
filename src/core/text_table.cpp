#include "core/text_table.h"

#include "core/escape.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace repro_minify {

std::string clean(const std::string &text) {
  std::string result = visible_text(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return result;
}

std::string table_text(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto &row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      text += row[i] + std::string(i + 1 < row.size() ? widths[i] + 2 - row[i].size() : 0, ' ');
    text += '\n';
  }
  return text;
}

} // namespace repro_minify
