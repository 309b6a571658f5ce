// Fuzzes the texts that a model prints, raises and is called, on their way into terminals, reports and sources.
#include "core/escape.h"
#include "core/text.h"
#include "security/fuzz/harness.h"

#include <algorithm>

namespace repro_minify::fuzz {
namespace {

bool commands(char c) {
  return (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == 0x7f;
}

bool is_printable_ascii(const std::string &text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

void try_texts(std::string_view bytes) {
  const std::string text(bytes);
  require(std::ranges::none_of(visible_text(text), commands), "visible text commands a terminal");
  const std::string comment = comment_text(text);
  require(comment.find('\n') == std::string::npos && !comment.ends_with('\\'), "a comment swallows the next line");
  require(is_printable_ascii(cpp_string(text)) && is_printable_ascii(python_string(text)), "a literal of other bytes");
  require(html_text(text).find_first_of("<>\"") == std::string::npos, "a text opens an element of HTML");
  require(without_particulars(text).size() <= 300, "a message is kept at any length");
  for (const auto &made : {comment_block(text, "//"), comment_block(text, "#"), raw_string(text), markdown_text(text),
                           markdown_fence(text, "text")})
    require(std::ranges::none_of(made, commands), "a source commands a terminal");
  try {
    split_words(text);
  } catch (const std::invalid_argument &) {
  }
}

const Registered registered_texts({"texts", try_texts});

} // namespace
} // namespace repro_minify::fuzz
