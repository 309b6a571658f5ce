#include "toolchain/run_compiler.h"

#include "support/start_program.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>

namespace repro_minify {

bool run_compiler(const std::vector<std::string> &words, const std::filesystem::path &folder,
                  std::chrono::seconds longest) {
  const pid_t child = start_program({.words = words,
                                     .folder = folder,
                                     .output = folder / "output",
                                     .own_group = true, // it is several processes
                                     .ends_with_us = true,
                                     .before = [&] {
                                       setenv("TMPDIR", folder.c_str(), 1);
                                       setenv("CCACHE_DISABLE", "1", 1); // half a gigabyte is kept once, not twice
                                     }});
  if (child < 0)
    return false;
  const auto end = std::chrono::steady_clock::now() + longest;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    if (std::chrono::steady_clock::now() > end) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace repro_minify
