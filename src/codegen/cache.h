// Where compiled kernels are kept between runs.
#pragma once
#include <filesystem>
#include <string>

namespace repro_minify {

/// In the user's cache folder ($XDG_CACHE_HOME or ~/.cache, else the temporary folder). Only this user can write there:
/// what lies in it is loaded. Throws std::runtime_error.
std::filesystem::path kernel_cache_folder();
/// A name for a file, not a secret.
std::string kernel_hash(const std::string &text);
/// All of a file; empty if there is none.
std::string read_file(const std::filesystem::path &path);

} // namespace repro_minify
