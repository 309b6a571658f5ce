#include "tasks/sandboxed_command.h"

#include "core/become_program.h"
#include "repro_minify/confinement.h"
#include "repro_minify/sandbox.h"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace repro_minify {

JobEnd run_command(const std::vector<std::string> &words, std::chrono::seconds timeout,
                   const std::function<bool()> &interrupted) {
  Limits limits;
  limits.timeout = timeout;
  limits.interrupted = interrupted;
  return run_in_sandbox(
      [&](Child &) {
        setenv("TMPDIR", private_folder_of_children().c_str(),
               1); // what it leaves when it is killed goes with this run
        become_program(words);
      },
      limits);
}

} // namespace repro_minify
