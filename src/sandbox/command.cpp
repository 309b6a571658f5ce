#include "sandbox/command.h"

#include "support/become_program.h"

namespace repro_minify {

Outcome run_command(const std::vector<std::string> &words, std::chrono::seconds timeout,
                    const std::function<bool()> &interrupted) {
  Limits limits;
  limits.timeout = timeout;
  limits.interrupted = interrupted;
  return run_in_sandbox([&](Child &) { become_program(words); }, limits);
}

} // namespace repro_minify
