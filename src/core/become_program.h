// Turns a forked child into another program.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// Calls execvp() with these words; the first is the program. If it cannot be started, one line on standard error says
/// why, and the process ends with 127; if only the machine cannot do so for now, it is killed, which is no answer.
[[noreturn]] void become_program(const std::vector<std::string> &words);

} // namespace repro_minify
