// Names of a model, which become those of variables in C++, Python and TorchScript.
#include "program/names.h"

#include "security/fuzz/harness.h"

#include <algorithm>

namespace repro_minify::fuzz {
namespace {

bool may_stand_in_a_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void try_names(std::string_view bytes) {
  const std::string name = to_identifier(std::string(bytes));
  require(!name.empty() && name.size() < 70, "a name of no or of any length");
  require(std::ranges::all_of(name, may_stand_in_a_name), "a name with other characters");
  require(!(name[0] >= '0' && name[0] <= '9') && name[0] != '_' && name.back() != '_', "a name of another form");
  require(name.find("__") == std::string::npos, "a name that belongs to C++");
  require(to_identifier(name) == name, "a name that would be another the second time");
}

const Registered registered_names({"names", try_names});

} // namespace
} // namespace repro_minify::fuzz
