#include "core/cpp_string.h"

#include "core/number_text.h"

#include <string>

namespace repro_minify {

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
