// Checks of the values of options: numbers with a range, paths, modules.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>

namespace repro_minify {

// Numbers on the command line: the whole text is one, and in a range that everything behind it can take.

/// For CLI::Option::check(). The error says the range.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
/// More than 0, and at most `most`; no NaN, no infinity.
CLI::Validator positive_number(double most);

/// For CLI::Option::transform(): "4GiB", "1.5g", "300 MB" (units of 1024 each) become a number of bytes.
CLI::Validator memory_size();

// Files, folders and programs on the command line.

/// For CLI::Option::check(): not empty, as it is where a variable of a shell is not set.
CLI::Validator some_path();
/// For CLI::Option::check(): a module of Python, by its name or as a file.
CLI::Validator some_module();

} // namespace repro_minify
