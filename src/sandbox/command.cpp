#include "sandbox/command.h"

#include <unistd.h>

namespace repro_minify {

Outcome run_command(const std::vector<std::string> &words, std::chrono::seconds timeout) {
  Limits limits;
  limits.timeout = timeout;
  return run_in_sandbox(
      [&](Child &) {
        std::vector<char *> arguments;
        for (const auto &word : words)
          arguments.push_back(const_cast<char *>(word.c_str()));
        arguments.push_back(nullptr);
        execvp(arguments[0], arguments.data());
        _exit(127);
      },
      limits);
}

} // namespace repro_minify
