// Options from a TOML file, and back to one. The names are those of the command line, without the hyphens in front.
#pragma once

#include "repro_minify/minify_options.h"

#include <CLI/CLI.hpp>

#include <map>
#include <string>

namespace repro_minify {

/// Options that the command line left open get the file's values. `known` has every option of every subcommand: a name
/// that none of them knows is a UserError, one that only another subcommand knows is skipped, so that one file serves
/// all.
void apply_config(CLI::App &app, const CLI::App &known, const std::string &path);

/// Returns, as TOML, every option of `app` with the value it has now, given or by default; paths are absolute.
/// `defaults` has the values of options that were not given and whose default depends on others, `changes` those that
/// are to be others than they are. Reading it back with apply_config repeats the run from anywhere.
std::string effective_config(const CLI::App &app, const std::map<std::string, std::string> &defaults,
                             const SettingsChanges &changes = {});

// --help-json: the options for programs.

/// Returns a JSON list of commands with their options, read from the parser itself: the program first (its name is
/// empty), then its subcommands.
std::string help_json(const CLI::App &app);

} // namespace repro_minify
