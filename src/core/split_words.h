// A command line as words, without a shell.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// Splits at blanks. As a POSIX shell reads them: 'single quotes' keep everything, "double quotes" keep all but \" and
/// \\, a backslash outside quotes keeps the next character. Nothing else has a meaning: no variables, no patterns, no
/// redirection. Throws std::invalid_argument for a quote that is not closed or a backslash at the end.
std::vector<std::string> split_words(const std::string &line);

} // namespace repro_minify
