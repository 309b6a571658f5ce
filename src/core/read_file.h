// The whole content of a file.
#pragma once
#include <filesystem>
#include <string>

namespace repro_minify {

/// Empty for one that cannot be read.
std::string read_file(const std::filesystem::path &path);

} // namespace repro_minify
