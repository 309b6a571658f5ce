// Loads each archive whose path comes on standard input as repro-minify would, in a process of its own that stands for
// the main one, and prints a line of JSON on how that ended. LibTorch is loaded once for all of them.
#include "repro_minify/load.h"
#include "repro_minify/sandbox.h"

#include <ATen/Parallel.h>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace repro_minify;
/// A load that has not ended by then hangs, on the busiest machine: SIGALRM ends it.
constexpr unsigned hanging_after_seconds = 300;

enum Code { Loaded = 0, Refused = 2, Internal = 70 };

/// Loads a stranger's files as the main process does, and exits with a Code.
[[noreturn]] void load(const std::string &path, const Limits &limits) {
  alarm(hanging_after_seconds);
  int code = Loaded;
  try {
    const LoadedModel model = load_model(path, "forward", 0, false, c10::kCPU, limits);
    load_inputs(model, {}, limits);
  } catch (const UserError &error) {
    std::cerr << error.what() << std::endl;
    code = Refused;
  } catch (const std::exception &error) {
    std::cerr << "internal: " << error.what() << std::endl;
    code = Internal;
  }
  _exit(code);
}

nlohmann::json job_end_of(const std::string &path, const Limits &limits) {
  const pid_t pid = fork();
  if (pid == 0)
    load(path, limits);
  int status = 0;
  rusage usage{};
  wait4(pid, &status, 0, &usage);
  const bool left_behind = waitpid(-1, nullptr, WNOHANG) >= 0; // this process takes in orphans
  return {{"path", path},
          {"signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0},
          {"exit", WIFEXITED(status) ? WEXITSTATUS(status) : -1},
          {"peak_mib", usage.ru_maxrss >> 10},
          {"left_behind", left_behind}};
}

} // namespace

int main(int argc, char **argv) {
  at::set_num_threads(1);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  private_folder_of_children(); // one for all, which goes with this process
  Limits limits;
  limits.timeout = std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 10);
  limits.memory_bytes = std::uint64_t{static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1024)} << 20;
  for (std::string path; std::getline(std::cin, path);)
    std::cout << job_end_of(path, limits).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << std::endl;
}
