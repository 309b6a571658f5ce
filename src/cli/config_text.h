// Reads a configuration file into its entries, without checking that there are such options.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

struct ConfigEntry {
  std::string name;
  std::vector<std::string> values; ///< as the command line would have them: one, or those of a list
  std::string problem;             ///< why there are none that an option takes; empty: there are
};

/// The entries of a text in TOML. Throws std::invalid_argument for what is no TOML, with the line, in words that
/// follow "FILE: ".
std::vector<ConfigEntry> read_config_text(const std::string &text);

} // namespace repro_minify
