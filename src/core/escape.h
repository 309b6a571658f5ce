// Text from a model is hostile until escaped for the language it ends up in.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace repro_minify {

/// For a terminal, and wherever text is read by people: what would command the terminal, turn the direction of writing
/// or is no UTF-8 is shown as its number, "\\x1b", "\\u202e". Line breaks and tabs stay.
std::string visible_text(const std::string &text);
/// One line for a C++ comment: no line breaks, no control characters (see visible_text()), no backslash at the end to
/// swallow the next line.
std::string comment_text(const std::string &text);
/// Several lines of comments, which `mark` begins: "//" in C++, "#" in Python.
std::string comment_block(const std::string &text, const std::string &mark);
/// Any text as a Python string literal, with its quotes, in printable ASCII.
std::string python_string(const std::string &text);
/// A C++ raw string literal, with a delimiter that the text does not contain; characters that cannot be seen stand in
/// literals of their own between.
std::string raw_string(const std::string &text);
/// Inline text for Markdown, where it may stand in a table too.
std::string markdown_text(const std::string &text);
/// Inline code, which is shown letter by letter. No text is no code.
std::string markdown_code(const std::string &text);
/// A fenced block that the text cannot close.
std::string markdown_fence(const std::string &text, const std::string &language);
/// Text of HTML, of an attribute in quotes too.
std::string html_text(const std::string &text);

// Any text as a plain C++ string literal, for code that is generated.

/// With its quotes. Bytes that are no printable ASCII are escaped, and so is what could end the literal or begin a
/// trigraph. Text with a zero byte has to become a std::string of explicit length.
std::string cpp_string(const std::string &text);

// Numbers in generated C++.

/// Returns `value` as a C++ expression of any integral type that holds it. In C++ a literal has no sign: the least
/// number has none.
inline std::string integer_literal(std::int64_t value) {
  return value == std::numeric_limits<std::int64_t>::min() ? "(-9223372036854775807 - 1)" : std::to_string(value);
}

} // namespace repro_minify
