#include "core/start_program.h"

#include "core/become_program.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

[[noreturn]] void become(const ProgramStart &start, pid_t parent) {
  if (start.own_group)
    setpgid(0, 0);
  if (start.ends_with_us)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (start.ends_with_us && getppid() != parent) // which was killed before that
    _exit(127);
  for (const int descriptor : start.descriptors)
    fcntl(descriptor, F_SETFD, 0);
  if (start.input)
    dup2(*start.input, STDIN_FILENO);
  if (!start.output.empty()) {
    const int output = open(start.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (output < 0)
      _exit(127);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (output > STDERR_FILENO)
      close(output);
  }
  if (!start.folder.empty() && chdir(start.folder.c_str()) != 0)
    _exit(127);
  if (start.before)
    start.before();
  become_program(start.words);
}

} // namespace

pid_t start_program(const ProgramStart &start) {
  const pid_t parent = getpid(), child = fork();
  if (child == 0)
    become(start, parent);
  return child;
}

std::optional<int> wait_for_program(pid_t child) {
  int status = 0;
  pid_t ended = -1;
  while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  return ended == child && child > 0 ? std::optional<int>(status) : std::nullopt;
}

bool is_running(pid_t &child) {
  if (child > 0 && waitpid(child, nullptr, WNOHANG) != 0)
    child = -1;
  return child > 0;
}

bool runs_after(pid_t &child, std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (is_running(child) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return child > 0;
}

int exit_code_of(std::optional<int> status) {
  if (!status)
    return 127;
  return WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
}

} // namespace repro_minify
