// The options of the program as data, read from the parser itself: what help_as.h writes.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace repro_minify {

struct OptionRow {
  std::vector<std::string> names; ///< as they are typed, the long ones first: --backend, -b
  std::string off;                ///< what says the opposite, --no-autocast; mostly empty
  std::string value;              ///< what it takes, in capitals; empty: nothing
  bool value_may_be_left_out = false;
  bool repeated = false;           ///< may be given again
  std::vector<std::string> values; ///< what can be named, where that is a list
  bool names_file = false;
  std::string preset; ///< the default, where it is one value
  std::string help;   ///< on one line
  std::string group;  ///< the heading under which -h has it
};

struct CommandRow {
  std::string name; ///< empty: the program without a subcommand
  std::string help, footer;
  std::vector<OptionRow> options; ///< in the order of -h
};

/// The program first, then its subcommands.
std::vector<CommandRow> command_rows(const CLI::App &app);

/// `text` with each of `special` behind a backslash, or behind what else is given.
std::string with_escapes(const std::string &text, const std::string &special, const std::string &escape = "\\");

} // namespace repro_minify
