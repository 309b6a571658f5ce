// --help-json: the options for programs.
#pragma once
#include <CLI/CLI.hpp>

#include <string>

namespace repro_minify {

/// Returns a JSON list of commands with their options, read from the parser itself: the program first (its name is
/// empty), then its subcommands.
std::string help_json(const CLI::App &app);

} // namespace repro_minify
