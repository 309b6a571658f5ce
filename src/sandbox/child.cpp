#include "sandbox/child.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace repro_minify {
namespace {

/// Most bytes a child may write to a file, its output included: a child that prints for ever must not fill the disk.
constexpr rlim_t most_output_bytes = rlim_t{1} << 30;

class ChildInChild final : public Child {
public:
  explicit ChildInChild(SharedMemory &memory) : memory_(memory) {}

  void stage(std::string_view name) override {
    char *stage = memory_.head().stage;
    const size_t size = std::min(name.size(), sizeof memory_.head().stage - 1);
    std::memcpy(stage, name.data(), size);
    stage[size] = '\0';
  }

  void reply(std::string_view bytes) override {
    auto &size = memory_.head().size;
    if (bytes.size() > memory_.capacity() - size)
      throw std::length_error("the reply is larger than the sandbox allows");
    std::memcpy(memory_.reply() + size, bytes.data(), bytes.size());
    size += bytes.size();
  }

private:
  SharedMemory &memory_;
};

/// Private writable memory of this process, which RLIMIT_DATA counts.
rlim_t private_data_bytes() {
  rlim_t kilobytes = 0;
  if (FILE *status = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, status))
      if (std::sscanf(line, "VmData: %lu kB", &kilobytes) == 1)
        break;
    std::fclose(status);
  }
  return kilobytes * 1024;
}

void set_limit(int resource, rlim_t value) {
  const rlimit limit{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void reset_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGALRM, SIGCHLD, SIGXFSZ})
    std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void redirect(int output) {
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (nothing > STDERR_FILENO)
    close(nothing);
}

[[noreturn]] void finish(SharedMemory &memory, Ending ending, std::string_view message) {
  auto &head = memory.head();
  const size_t size = std::min(message.size(), sizeof head.message);
  std::memcpy(head.message, message.data(), size);
  head.message_size = static_cast<std::uint32_t>(size);
  std::fflush(nullptr);
  head.done = static_cast<std::uint32_t>(ending) + 1;
  _exit(0); // no destructors, no atexit handlers: they are the parent's
}

bool says_out_of_memory(std::string_view message) {
  return message.find("can't allocate memory") != std::string_view::npos || message.find("not enough memory") != std::string_view::npos;
}

} // namespace

void run_child(const Job &job, const Limits &limits, SharedMemory &memory, int output, int parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1); // the parent died before the line above
  reset_signals();
  redirect(output);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, most_output_bytes);
  if (limits.memory_bytes)
    set_limit(RLIMIT_DATA, private_data_bytes() + limits.memory_bytes);
  ChildInChild child(memory);
  try {
    job(child);
    finish(memory, Ending::Replied, "");
  } catch (const std::bad_alloc &error) {
    finish(memory, Ending::OutOfMemory, error.what());
  } catch (const std::exception &error) {
    finish(memory, limits.memory_bytes && says_out_of_memory(error.what()) ? Ending::OutOfMemory : Ending::Threw, error.what());
  } catch (...) {
    finish(memory, Ending::Threw, "unknown exception");
  }
}

} // namespace repro_minify
