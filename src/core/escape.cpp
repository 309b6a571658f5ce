#include "core/escape.h"

#include "core/json.h"
#include "core/number_text.h"
#include "core/text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace repro_minify {
namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 1;
  bool valid = false;
};

/// The one that begins there, as UTF-8 has it.
Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const unsigned first = byte(0);
  const size_t more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : 3;
  if (first < 0x80)
    return {first, 1, true};
  if (first < 0xc2 || first > 0xf4)
    return {first, 1, false};
  uint32_t code = first & (0x3fu >> more);
  for (size_t i = 1; i <= more; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return {first, 1, false};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return {first, 1, false};
  return {code, more + 1, true};
}

/// Commands for a terminal, marks that turn the direction of writing, separators of lines, and what takes no room.
bool is_hidden(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
         (code >= 0xe0000 && code <= 0xe007f);
}

std::string number_of(const Character &character) {
  return character.code < 0x100 ? "\\x" + padded_text(character.code, 2, 16)
                                : "\\u" + padded_text(character.code, 4, 16);
}

std::string printable_line(const std::string &text) {
  std::string line = text;
  std::replace(line.begin(), line.end(), '\r', '\n');
  line = visible_text(line);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

size_t longest_run_of_backticks(const std::string &text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// A literal of its own for a hidden character, where the language knows one.
std::string literal_of(const Character &character) {
  return character.code < 0x100 ? "\"\\" + padded_text(character.code, 3, 8) + "\""
                                : "\"\\U" + padded_text(character.code, 8, 16) + "\"";
}

} // namespace

std::string visible_text(const std::string &text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const bool stays = text[at] == '\n' || text[at] == '\t';
    if (stays || (character.valid && !is_hidden(character.code)))
      result.append(text, at, character.bytes);
    else if (text[at] != '\r' || at + 1 >= text.size() || text[at + 1] != '\n')
      result += number_of(character);
    at += character.bytes;
  }
  return result;
}

std::string comment_text(const std::string &text) {
  std::string line = printable_line(text);
  // GCC goes on in the next line where blanks are behind it, too.
  line.erase(line.find_last_not_of(' ') + 1);
  if (line.ends_with('\\'))
    line += '.';
  return line;
}

/// Long lines are broken at spaces; what belongs together is indented.
std::string comment_block(const std::string &text, const std::string &mark) {
  constexpr size_t columns = 110;
  std::string block;
  for (std::string line : split_lines(text)) {
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

std::string python_string(const std::string &text) {
  // JSON's escapes are among Python's, and all that is not ASCII is one of them.
  return json(text).dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
}

std::string raw_string(const std::string &text) {
  std::string delimiter = "torchscript"; // at most 16 characters
  for (int i = 0; text.find(")" + delimiter + "\"") != std::string::npos; ++i)
    delimiter = "ts" + std::to_string(i);
  const std::string begin = "R\"" + delimiter + "(", end = ")" + delimiter + "\"";
  std::string literal = begin;
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const bool is_blank = text[at] == '\n' || text[at] == '\t';
    if (is_blank || (character.valid && !is_hidden(character.code)))
      literal.append(text, at, character.bytes);
    else
      literal += end + " " + literal_of(character) + " " + begin;
    at += character.bytes;
  }
  return literal + end;
}

std::string markdown_text(const std::string &text) {
  const std::string line = printable_line(text);
  const auto is_word = [&](size_t at) {
    return at < line.size() && std::isalnum(static_cast<unsigned char>(line[at]));
  };
  std::string result;
  for (size_t at = 0; at < line.size(); ++at) {
    const bool inside_word = line[at] == '_' && at > 0 && is_word(at - 1) && is_word(at + 1);
    const bool begins_block = at == 0 && std::string_view("#+->").find(line[at]) != std::string_view::npos;
    const bool has_meaning = std::string_view("\\`*_[<|~&@").find(line[at]) != std::string_view::npos;
    if (begins_block || (has_meaning && !inside_word))
      result += '\\';
    result += line[at];
  }
  return result;
}

std::string markdown_code(const std::string &text) {
  const std::string line = printable_line(text);
  const size_t longest = longest_run_of_backticks(line);
  const std::string fence(longest + 1, '`'), room = longest ? " " : "";
  return line.empty() ? "" : fence + room + line + room + fence;
}

std::string markdown_fence(const std::string &text, const std::string &language) {
  const std::string fence(std::max(longest_run_of_backticks(text), size_t{2}) + 1, '`');
  return fence + language + "\n" + visible_text(text) + (text.empty() || text.back() != '\n' ? "\n" : "") + fence +
         "\n";
}

std::string html_text(const std::string &text) {
  std::string result;
  for (const char c : visible_text(text))
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      result += c;
    }
  return result;
}

std::string cpp_string(const std::string &text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {
      literal += '\\';
      literal += c;
    } else if (byte < 32 || byte > 126) {
      literal += '\\' + padded_text(byte, 3, 8); // always three digits, so that no digit after it joins in
    } else {
      literal += c;
    }
  }
  return literal + "\"";
}

} // namespace repro_minify
