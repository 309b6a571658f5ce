// Files, folders and programs on the command line.
#pragma once
#include <CLI/CLI.hpp>

namespace repro_minify {

/// For CLI::Option::check(): not empty, as it is where a variable of a shell is not set.
CLI::Validator some_path();
/// For CLI::Option::check(): a module of Python, by its name or as a file.
CLI::Validator some_module();

} // namespace repro_minify
