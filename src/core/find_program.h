// Where a program lies that is named as on a command line.
#pragma once
#include <string>

namespace repro_minify {

/// The file that execvp() would start: the name itself where it has a slash, else the first of that name in the folders
/// of PATH. Empty where there is none that can be executed.
std::string find_program(const std::string &name);

} // namespace repro_minify
