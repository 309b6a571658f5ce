#include "toolchain/compiler.h"

#include "core/find_program.h"
#include "tasks/sandboxed_command.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

namespace repro_minify {
namespace {

std::string first_line_of(const std::vector<std::string> &command) {
  const std::string said = run_command(command, std::chrono::seconds(10)).output_tail;
  return said.substr(0, std::min<size_t>(said.find('\n'), 200));
}

} // namespace

std::string find_compiler() {
  const char *chosen = std::getenv("CXX");
  if (chosen && *chosen && !find_program(chosen).empty())
    return chosen;
  for (const char *name : {"c++", "g++", "clang++"})
    if (!find_program(name).empty())
      return name;
  return "";
}

std::string find_quick_compiler() {
  constexpr int oldest = 14; // that was tried with LibTorch's headers
  const char *name = "clang++", *chosen = std::getenv("CXX");
  if ((chosen && *chosen) || find_program(name).empty())
    return "";
  std::smatch version;
  const std::string said = first_line_of({name, "--version"});
  return std::regex_search(said, version, std::regex("clang version ([0-9]{1,4})")) && std::stoi(version[1]) >= oldest
             ? name
             : "";
}

std::string compiler_version() {
  const std::string compiler = find_compiler();
  return compiler.empty() ? "" : compiler + ": " + first_line_of({compiler, "--version"});
}

} // namespace repro_minify
