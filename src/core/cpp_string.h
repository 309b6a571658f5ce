// Any text as a plain C++ string literal, for code that is generated.
#pragma once
#include <string>

namespace repro_minify {

/// With its quotes. Bytes that are no printable ASCII are escaped, and so is what could end the literal or begin a
/// trigraph. Text with a zero byte has to become a std::string of explicit length.
std::string cpp_string(const std::string &text);

} // namespace repro_minify
