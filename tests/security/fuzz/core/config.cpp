// Fuzzes the reader of config.toml, which may come with a repro from another person.
#include "cli/config_text.h"
#include "security/fuzz/harness.h"

#include <stdexcept>

namespace repro_minify::fuzz {
namespace {

void try_config(std::string_view bytes) {
  try {
    for (const auto &entry : read_config_text(std::string(bytes)))
      require(entry.problem.empty() || !entry.problem.starts_with(' '), "a problem is a sentence");
  } catch (const std::invalid_argument &problem) {
    require(std::string_view(problem.what()).starts_with("line "), "the line is not said");
  }
}

const Registered registered_config({"config", try_config});

} // namespace
} // namespace repro_minify::fuzz
