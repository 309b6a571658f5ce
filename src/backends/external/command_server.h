// A program of the user's that is started once and asked over a socket: what takes long to load is loaded once.
#pragma once
#include "core/files.h"

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace repro_minify {

/// The process that runs for as long as this object and the process that made it. docs/backends.md has the protocol.
class CommandServer {
public:
  /// How the program ended that was asked.
  struct End {
    int signal = 0;
    int exit_code = 0;
    std::string message; ///< its last line on standard error
  };
  /// Starts it and waits until it answers. Throws UserError with what it said last when it cannot start, Interrupted
  /// once `interrupted` says so, which may be empty.
  explicit CommandServer(const std::vector<std::string> &words, const std::function<bool()> &interrupted = {});
  ~CommandServer();
  CommandServer(const CommandServer &) = delete;
  CommandServer &operator=(const CommandServer &) = delete;

  /// The paths of a model, its inputs, and what is to be written; `seed`: of the program's generators. May be called in
  /// any process. Throws CannotCompile when the program answers nonsense, NoAnswer when it is gone.
  End ask(const std::vector<std::string> &files, std::uint64_t seed) const;
  /// False once its process has ended.
  bool lives();

private:
  void start(const std::vector<std::string> &words);
  void await(const std::function<bool()> &interrupted);
  [[noreturn]] void give_up(const std::string &problem);
  void end();
  std::string last_words() const;

  TemporaryFolder folder_;
  std::string address_, log_;
  pid_t pid_ = -1, group_ = -1, owner_ = -1;
};

// The .inc files beside this one as text, for repro.cpp.

extern const char *const plugin_program_text;
extern const char *const command_program_text;

} // namespace repro_minify
