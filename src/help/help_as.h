// --help-as: the options for other readers than people at a terminal, made from the options themselves.
#pragma once
#include "help/option_rows.h"

#include <string>

namespace repro_minify {

/// For `man`: a page in the macros of man(7).
std::string help_as_man(const std::vector<CommandRow> &commands);
/// Completions: a file to source.
std::string help_as_bash(const std::vector<CommandRow> &commands);
std::string help_as_zsh(const std::vector<CommandRow> &commands);
std::string help_as_fish(const std::vector<CommandRow> &commands);
/// For programs: a list of commands with their options.
std::string help_as_json(const std::vector<CommandRow> &commands);

/// `format` is one of man, bash, zsh, fish and json: --help-as has seen to it.
std::string help_as(const std::string &format, const CLI::App &app);

} // namespace repro_minify
