// Files, folders and programs on the command line.
#pragma once
#include <CLI/CLI.hpp>

namespace repro_minify {

/// For CLI::Option::check(): not empty, as it is where a variable of a shell is not set.
CLI::Validator some_path();

} // namespace repro_minify
