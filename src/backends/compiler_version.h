// Which C++ compiler makes the kernels.
#pragma once
#include <string>

namespace repro_minify {

/// What it says of itself, in one line; empty if there is none.
std::string compiler_version();

} // namespace repro_minify
