// How CMake compiles a project's one source.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify {

/// The words of the only entry of compile_commands.json in a build folder, without what is compiled and where to. Empty
/// where there is none, or several.
std::vector<std::string> compile_command_of(const std::filesystem::path &build);

} // namespace repro_minify
