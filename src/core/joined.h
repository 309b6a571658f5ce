// Words in a row.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// Empty words at the begin have nothing behind them.
inline std::string joined(const std::vector<std::string> &words, const std::string &between = ", ") {
  std::string text;
  for (const auto &word : words)
    text += (text.empty() ? "" : between) + word;
  return text;
}

} // namespace repro_minify
