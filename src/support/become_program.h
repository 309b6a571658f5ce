// The last thing a forked child does that is to be another program.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// execvp() with these words; the first is the program. If it cannot be started, one line on standard error says why,
/// and the process ends with 127; if only the machine cannot do so for now, it is killed, which is nobody's answer.
[[noreturn]] void become_program(const std::vector<std::string> &words);

} // namespace repro_minify
