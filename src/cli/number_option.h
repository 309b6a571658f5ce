// Numbers on the command line: the whole text is one, and in a range that everything behind it can take.
#pragma once
#include <CLI/CLI.hpp>

#include <cstdint>

namespace repro_minify {

/// For CLI::Option::check(). The error says the range.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
/// More than 0, and at most `most`; no NaN, no infinity.
CLI::Validator positive_number(double most);

/// For CLI::Option::transform(): "4GiB", "1.5g", "300 MB" (units of 1024 each) become a number of bytes.
CLI::Validator memory_size();

} // namespace repro_minify
