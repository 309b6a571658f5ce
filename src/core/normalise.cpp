#include "core/normalise.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace repro_minify {
namespace {

// No locale has a say.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

/// How long the run of characters is that begins there.
template <typename Is> size_t run(std::string_view text, size_t at, Is is) {
  size_t end = at;
  while (end < text.size() && is(text[end]))
    ++end;
  return end - at;
}

/// `found(text, at)`: how much of the text is replaced there, 0 for nothing.
template <typename Found> std::string replaced(std::string_view text, Found found, const char *by) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t length = found(text, at);
    if (length > 0)
      result += by;
    else
      result += text[at];
    at += length > 0 ? length : 1;
  }
  return result;
}

size_t address(std::string_view text, size_t at) {
  const size_t digits = text.substr(at, 2) == "0x" ? run(text, at + 2, is_hex) : 0;
  return digits > 0 ? 2 + digits : 0;
}

/// "/a/b", "./b" and "../b", at the beginning of a word.
size_t path(std::string_view text, size_t at) {
  if (at > 0 && !is_one_of(text[at - 1], " \"'(="))
    return 0;
  const size_t slash = at + run(text, at, [](char c) { return c == '.'; });
  if (slash > at + 2 || slash >= text.size() || text[slash] != '/')
    return 0;
  const size_t rest = run(text, slash + 1, [](char c) { return !is_one_of(c, " \":,()'"); });
  return rest > 0 ? slash + 1 + rest - at : 0;
}

/// Returns the length of a value's name, which begins at `at`, after its "%"; 0 where there is none.
size_t value_name(std::string_view text, size_t at) {
  const auto is_name = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; };
  return at > 0 && text[at - 1] == '%' ? run(text, at, is_name) : 0;
}

/// The number in "kind: 24" is a name: it gets a letter before it, and is none any more.
std::string with_names_of_kinds(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const auto word = text.substr(at, 4);
    if (word != "type" && word != "kind" && word != "code") {
      result += text[at++];
      continue;
    }
    at += 4;
    result += word;
    const size_t blank = at + (at < text.size() && text[at] == ':');
    if (blank + 1 < text.size() && text[blank] == ' ' && is_digit(text[blank + 1])) {
      result += " N";
      at = blank + 1;
    }
  }
  return result;
}

size_t number(std::string_view text, size_t at) {
  const auto is_part_of_a_name = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; };
  if (at > 0 && is_part_of_a_name(text[at - 1]))
    return 0;
  size_t end = at + is_one_of(text[at], "+-");
  const size_t digits = run(text, end, is_digit);
  if (digits == 0)
    return 0;
  end += digits;
  if (end < text.size() && text[end] == '.')
    if (const size_t fraction = run(text, end + 1, is_digit))
      end += 1 + fraction;
  if (end < text.size() && is_one_of(text[end], "eE")) {
    const size_t sign = end + 1 < text.size() && is_one_of(text[end + 1], "+-");
    if (const size_t exponent = run(text, end + 1 + sign, is_digit))
      end += 1 + sign + exponent;
  }
  return end < text.size() && (is_letter(text[end]) || text[end] == '_') ? 0 : end - at;
}

/// All but the first of a list of numbers: ", #", ",#".
size_t rest_of_list(std::string_view text, size_t at) {
  if (at == 0 || text[at - 1] != '#')
    return 0;
  size_t end = at;
  while (end < text.size() && text[end] == ',') {
    const size_t next = end + 1 + (end + 1 < text.size() && text[end + 1] == ' ');
    if (next >= text.size() || text[next] != '#')
      break;
    end = next + 1;
  }
  return end - at;
}

size_t white_space(std::string_view text, size_t at) {
  return run(text, at, [](char c) { return is_one_of(c, " \t\r\n"); });
}

} // namespace

std::string without_particulars(const std::string &message) {
  std::string text = replaced(message, address, "@");
  text = replaced(text, path, "PATH");
  text = replaced(text, value_name, "");
  text = replaced(with_names_of_kinds(text), number, "#");
  text = replaced(text, rest_of_list, "");
  return replaced(text, white_space, " ").substr(0, 300);
}

} // namespace repro_minify
