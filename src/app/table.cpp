#include "app/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace repro_minify {

std::string clean(const std::string &text) {
  std::string result;
  for (char c : text)
    result += static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
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

void print_table(const std::vector<std::vector<std::string>> &rows) {
  std::cout << table_text(rows);
}

} // namespace repro_minify
