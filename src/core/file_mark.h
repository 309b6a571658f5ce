// Tells if a file is still the one that was looked at.
#pragma once
#include <filesystem>
#include <string>

namespace repro_minify {

/// Returns size and time of change of a file, behind all links; empty where there is none.
std::string mark_of_file(const std::filesystem::path &file);
/// True if the file exists and was written within a day.
bool is_of_today(const std::filesystem::path &file);

} // namespace repro_minify
