// Making goes on when this process has ended.
#include "toolchain/make_in_background.h"

#include "sandbox/limits.h"
#include "toolchain/header_cache.h"
#include "toolchain/precompiled_header.h"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

constexpr std::uintmax_t gigabyte = std::uintmax_t{1} << 30;

std::uintmax_t free_disk(const std::filesystem::path &folder) {
  struct statvfs status {};
  return statvfs(folder.c_str(), &status) == 0 ? std::uintmax_t{status.f_bavail} * status.f_frsize : 0;
}

/// Detaches this process: its output is not read, and no pipe of another process stays open because of it.
void let_go_of_everything() {
  setsid();
  const int nothing = open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    dup2(nothing, stream);
  close_range(STDERR_FILENO + 1, std::numeric_limits<unsigned>::max(), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    ::signal(signal, SIG_DFL);
  if (chdir("/") != 0 || nice(5) == -1) // a folder that is in use cannot be unmounted
    return;
}

/// Runs the job in a process of its own that is not waited for. Its exceptions are not reported.
void in_background(const std::function<void()> &job) {
  const pid_t between = fork();
  if (between != 0) {
    if (between > 0)
      waitpid(between, nullptr, 0);
    return;
  }
  let_go_of_everything();
  if (fork() == 0) {
    try {
      job();
    } catch (...) { // there is no process to report it to
      _exit(1);
    }
  }
  _exit(0);
}

} // namespace

void make_in_background(const PrecompiledHeader &header) {
  if (!header.is_wanted() || free_disk(header_cache_folder()) < 3 * gigabyte || free_on_the_machine() < 3 * gigabyte)
    return;
  in_background([&header] { header.make(); });
}

} // namespace repro_minify
