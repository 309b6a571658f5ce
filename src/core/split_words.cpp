#include "core/split_words.h"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace repro_minify {

std::vector<std::string> split_words(const std::string &line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  const auto add = [&](char c) {
    if (!in_word)
      words.emplace_back();
    in_word = true;
    words.back() += c;
  };
  const auto begin_word = [&] {
    if (!in_word)
      words.emplace_back(); // "" is a word too
    in_word = true;
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool escapes =
        c == '\\' &&
        (quote == 0 || (quote == '"' && i + 1 < line.size() && (line[i + 1] == '"' || line[i + 1] == '\\')));
    if (escapes) {
      if (++i == line.size())
        throw std::invalid_argument("a backslash at the end");
      add(line[i]);
    } else if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      begin_word();
      quote = quote != 0 ? 0 : c;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
    } else {
      add(c);
    }
  }
  if (quote != 0)
    throw std::invalid_argument(std::string("a quote ") + quote + " that is not closed");
  return words;
}

} // namespace repro_minify
