#include "core/closest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

namespace repro_minify {
namespace {

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The edit distance of Damerau and Levenshtein, where no letter is edited twice (optimal string alignment).
size_t distance(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  return edits.back().back();
}

constexpr size_t longest_word = 60; // of those that are looked at: a name has fewer

} // namespace

std::string closest(const std::string &word, const std::vector<std::string> &known) {
  std::string found;
  if (word.size() > longest_word)
    return found;
  const size_t hyphens = std::min(word.find_first_not_of('-'), word.size());
  size_t least = (word.size() - hyphens) / 3 + 1;
  for (const auto &each : known)
    if (const size_t edits = distance(in_lower_case(word), in_lower_case(each)); edits < least) {
      least = edits;
      found = each;
    }
  return found;
}

std::string did_you_mean(const std::string &word, const std::vector<std::string> &known) {
  const std::string meant = closest(word, known);
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

} // namespace repro_minify
