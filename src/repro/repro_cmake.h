// The CMakeLists.txt beside repro.cpp.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// Returns the text for a repro.cpp that calls LibTorch, and links `libraries` beside it ("dl"). `has_operators`: it
/// loads libraries of operators itself.
std::string repro_cmake_lists(const std::vector<std::string> &libraries, bool has_operators);
/// Returns the text for a repro.cpp that only runs repro.py.
std::string runner_cmake_lists();

} // namespace repro_minify
