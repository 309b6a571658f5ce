// The C++ compiler that kernels and probes are made with.
#pragma once
#include <string>

namespace repro_minify {

/// $CXX, else c++, g++ or clang++, whichever is found first. Empty if there is none.
std::string find_compiler();
/// What it says of itself, in one line; empty if there is none.
std::string compiler_version();

} // namespace repro_minify
