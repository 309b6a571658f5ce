// Runs a program as a user would, and tells what came of it.
#pragma once
#include "core/files.h"

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace repro_minify::end_to_end {

struct Finished {
  int exit_code = -1; ///< -1 when it did not exit by itself
  int signal = 0;     ///< the signal that ended it, else 0
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// A program that has been started. Killed, with its process group, if it still runs when this goes.
class RunningProgram {
public:
  explicit RunningProgram(const std::vector<std::string> &arguments);
  ~RunningProgram();
  RunningProgram(const RunningProgram &) = delete;
  RunningProgram &operator=(const RunningProgram &) = delete;

  /// Polls until `condition` holds; false if the program ended or the time went by first, which only keeps a test from
  /// waiting for ever: it is long, and no test is about it.
  bool wait_until(const std::function<bool()> &condition, std::chrono::seconds limit);
  /// True if it has started a process: from then on it hears signals.
  bool has_children() const;
  void send_signal(int signal) const;
  Finished wait(std::chrono::seconds limit);

private:
  bool has_ended();

  TemporaryFolder streams_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

/// Runs to the end. The first argument is the program's path or a name on PATH.
Finished run_program(const std::vector<std::string> &arguments,
                     std::chrono::seconds limit = std::chrono::seconds(1800));

/// A word for run_tool().
constexpr const char *verify = "--verify";

/// Runs repro-minify with these arguments. A minimisation builds and runs its repro only where `verify` is among them,
/// which takes ten seconds of a processor, and asks TorchInductor something for issue.md only where --ablation is.
Finished run_tool(std::vector<std::string> arguments, std::chrono::seconds limit = std::chrono::seconds(1800));

std::string read_text(const std::filesystem::path &file);
/// True if a process runs `sleep SECONDS`.
bool sleeps(const std::string &seconds);
long lines_in(const std::filesystem::path &file);
/// Everything that is needed to understand a surprise, for a failed expectation.
std::string describe(const Finished &finished);

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace repro_minify::end_to_end
