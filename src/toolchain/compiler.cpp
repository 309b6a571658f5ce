#include "toolchain/compiler.h"

#include "sandbox/command.h"
#include "support/find_program.h"

#include <cstdlib>

namespace repro_minify {

std::string find_compiler() {
  const char *chosen = std::getenv("CXX");
  if (chosen && *chosen && !find_program(chosen).empty())
    return chosen;
  for (const char *name : {"c++", "g++", "clang++"})
    if (!find_program(name).empty())
      return name;
  return "";
}

std::string compiler_version() {
  const std::string compiler = find_compiler();
  if (compiler.empty())
    return "";
  const std::string said = run_command({compiler, "--version"}, std::chrono::seconds(10)).output_tail;
  return compiler + ": " + said.substr(0, said.find('\n'));
}

} // namespace repro_minify
