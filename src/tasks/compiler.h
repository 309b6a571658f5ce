// The compiler of kernels and probes, and where kernels are kept between runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify {

// The C++ compiler that kernels and probes are made with.

/// $CXX, else c++, g++ or clang++, whichever is found first. Empty if there is none.
std::string find_compiler();
/// clang++ (14 or later) where there is one and $CXX names no other: in LibTorch's headers, once precompiled, it takes
/// a quarter of GCC's time. Empty otherwise.
std::string find_quick_compiler();
/// Returns the name of find_compiler()'s compiler and its version, in one line; empty if there is none.
std::string compiler_version();

// How CMake compiles a project's one source.

/// The words of the only entry of compile_commands.json in a build folder, without what is compiled and where to. Empty
/// where there is none, or several.
std::vector<std::string> compile_command_of(const std::filesystem::path &build);

// Where compiled kernels are kept between runs.

/// Returns a folder in the user's cache folder ($XDG_CACHE_HOME or ~/.cache), if no other user can change anything on
/// the way there, for what lies in it is loaded; else a folder of this run. Throws NoAnswer.
std::filesystem::path kernel_cache_folder();
/// True if the file is there and only this user can write it; it then counts as used now.
bool is_kept(const std::filesystem::path &file);
/// Removes what compilations that were killed have left, and of the rest what was used least recently, until it takes
/// `most_bytes` at most. Throws nothing: a cache that cannot be tidied is still one.
void tidy_kernel_cache(uintmax_t most_bytes = uintmax_t{1} << 30) noexcept;
/// A name for a file, not a secret.
std::string kernel_hash(const std::string &text);

} // namespace repro_minify
