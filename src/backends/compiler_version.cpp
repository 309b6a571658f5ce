#include "backends/compiler_version.h"

#include "codegen/library.h"
#include "sandbox/command.h"

namespace repro_minify {

std::string compiler_version() {
  const std::string compiler = find_compiler();
  if (compiler.empty())
    return "";
  const std::string said = run_command({compiler, "--version"}, std::chrono::seconds(10)).output_tail;
  return compiler + ": " + said.substr(0, said.find('\n'));
}

} // namespace repro_minify
