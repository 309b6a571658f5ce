// Programs and libraries: where they lie, and how they are started.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace repro_minify {

// Where a program lies that is named as on a command line.

/// The file that execvp() would start: the name itself where it has a slash, else the first of that name in the folders
/// of PATH. Empty where there is none that can be executed.
std::string find_program(const std::string &name);

// Another program, started as a child of this process. One that runs under limits: tasks/sandbox.h.

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

// Turns a forked child into another program.

/// Calls execvp() with these words; the first is the program. If it cannot be started, one line on standard error says
/// why, and the process ends with 127; if only the machine cannot do so for now, it is killed, which is no answer.
[[noreturn]] void become_program(const std::vector<std::string> &words);

// Modules of Python that the user names (--import): "package.module", which Python finds, or the path of a FILE.py.

/// True if a file is named.
bool is_python_file(const std::string &module);
/// Returns what a Python that is started in another folder imports it by: the full path of a file.
std::string importable(const std::string &module);
/// Returns why no module can be that; empty where one can.
std::string no_module_because(const std::string &module);

/// Returns the parts of MODULE:FUNCTION or FILE.py:FUNCTION; the first is empty if there is no colon.
std::pair<std::string, std::string> module_and_function(const std::string &text);

// Where a shared library lies that this process runs with.

/// The folder, without links, of a library of that name (libtorch_cpu.so) which is loaded already. Empty where none is.
std::string folder_of_loaded_library(const std::string &name);

/// The LibTorch in use: the folder above the lib/ that libtorch_cpu.so came from, or, where none is loaded, the one
/// that this was built with. A wheel is installed where another Python has its torch.
std::string torch_prefix_in_use(const std::string &built_with);

} // namespace repro_minify
