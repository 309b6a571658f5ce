// Another program, started as a child of this process. One that runs under limits: tasks/sandboxed_command.h.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace repro_minify {

struct ProgramStart {
  std::vector<std::string> words;    ///< the program, looked up on PATH, and its arguments; no shell reads them
  std::string folder = {};           ///< where it begins; empty: where this process is
  std::string output = {};           ///< a file that gets all it prints; empty: it prints where this process does
  std::optional<int> input = {};     ///< a descriptor that becomes its standard input; nothing: this process's
  std::vector<int> descriptors = {}; ///< others that it is given, though they are closed on exec
  bool own_group = false;            ///< what is typed at the terminal is not for it; it is killed with its group
  bool ends_with_us = false;         ///< it is killed when the thread that started it ends
  std::function<void()> before = {}; ///< called in the new process before it is another program
};

/// Its process; -1 where none can be made. One that cannot be started ends as become_program() has it.
pid_t start_program(const ProgramStart &start);
/// Waits for its end. The status as waitpid() has it; nothing where there is no such child.
std::optional<int> wait_for_program(pid_t child);
/// True if it still runs. Once it has ended `child` is -1, as there is no such process any more.
bool is_running(pid_t &child);
/// The same, once it has ended or that time is over.
bool runs_after(pid_t &child, std::chrono::milliseconds longest);
/// 0 to 255, 128 and the signal that ended it, or 127 for nothing.
int exit_code_of(std::optional<int> status);

} // namespace repro_minify
