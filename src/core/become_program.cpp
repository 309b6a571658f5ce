#include "core/become_program.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

namespace repro_minify {

void become_program(const std::vector<std::string> &words) {
  std::vector<char *> arguments;
  for (const auto &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  if (errno == EAGAIN || errno == ENOMEM || errno == ETXTBSY) // not for now
    raise(SIGKILL);
  dprintf(STDERR_FILENO, "%s: cannot be started: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

} // namespace repro_minify
