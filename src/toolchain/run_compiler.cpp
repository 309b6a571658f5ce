#include "toolchain/run_compiler.h"

#include "support/become_program.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

[[noreturn]] void become_compiler(const std::vector<std::string> &words, const std::filesystem::path &folder,
                                  pid_t parent) {
  setpgid(0, 0); // it is several processes
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // which was killed before that
    _exit(127);
  const int output = open((folder / "output").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (output < 0 || chdir(folder.c_str()) != 0)
    _exit(127);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  setenv("TMPDIR", folder.c_str(), 1);
  setenv("CCACHE_DISABLE", "1", 1); // half a gigabyte is kept once, not twice
  become_program(words);
}

} // namespace

bool run_compiler(const std::vector<std::string> &words, const std::filesystem::path &folder,
                  std::chrono::seconds longest) {
  const pid_t parent = getpid(), child = fork();
  if (child < 0)
    return false;
  if (child == 0)
    become_compiler(words, folder, parent);
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
