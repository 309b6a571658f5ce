// The C++ compiler that kernels and probes are made with.
#pragma once
#include <string>

namespace repro_minify {

/// $CXX, else c++, g++ or clang++, whichever is found first. Empty if there is none.
std::string find_compiler();
/// clang++ (14 or later) where there is one and $CXX names no other: in LibTorch's headers, once precompiled, it takes
/// a quarter of GCC's time. Empty otherwise.
std::string find_quick_compiler();
/// Returns the name of find_compiler()'s compiler and its version, in one line; empty if there is none.
std::string compiler_version();

} // namespace repro_minify
