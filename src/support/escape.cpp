#include "support/escape.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace repro_minify {
namespace {

std::string printable_line(const std::string &text) {
  std::string line;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 32 || byte == 127 ? ' ' : c;
  }
  return line;
}

} // namespace

std::string comment_text(const std::string &text) {
  std::string line = printable_line(text);
  if (!line.empty() && line.back() == '\\')
    line += '.';
  return line;
}

namespace {

/// `mark` begins each line. Long lines are broken at spaces; what belongs together is indented.
std::string block_of_comments(const std::string &text, const std::string &mark) {
  constexpr size_t columns = 110;
  std::istringstream lines(text);
  std::string block;
  for (std::string line; std::getline(lines, line);) {
    line = comment_text(line);
    for (bool first = true; first || !line.empty(); first = false) {
      const std::string indent = first ? "" : "  ";
      size_t end = line.size();
      if (end > columns) {
        const size_t space = line.rfind(' ', columns);
        end = space == std::string::npos || space == 0 ? columns : space;
      }
      block += line.empty() ? mark + "\n" : mark + " " + indent + comment_text(line.substr(0, end)) + "\n";
      line.erase(0, end);
      line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    }
  }
  return block;
}

} // namespace

std::string comment_block(const std::string &text) {
  return block_of_comments(text, "//");
}

std::string python_comment_block(const std::string &text) {
  return block_of_comments(text, "#");
}

std::string python_string(const std::string &text) {
  // JSON's escapes are among Python's, and all that is not ASCII is one of them.
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
}

std::string raw_string(const std::string &text) {
  std::string delimiter = "torchscript"; // at most 16 characters
  for (int i = 0; text.find(")" + delimiter + "\"") != std::string::npos; ++i)
    delimiter = "ts" + std::to_string(i);
  return "R\"" + delimiter + "(" + text + ")" + delimiter + "\"";
}

std::string markdown_text(const std::string &text) {
  std::string result;
  for (char c : printable_line(text)) {
    if (std::string("\\`*_{}[]<>()#+!|~&@").find(c) != std::string::npos)
      result += '\\';
    result += c;
  }
  return result;
}

std::string markdown_fence(const std::string &text, const std::string &language) {
  size_t longest = 2, run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fence + language + "\n" + text + (text.empty() || text.back() != '\n' ? "\n" : "") + fence + "\n";
}

std::string shell_word(const std::string &text) {
  const bool plain = !text.empty() &&
                     text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-") ==
                         std::string::npos;
  if (plain)
    return text;
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

} // namespace repro_minify
