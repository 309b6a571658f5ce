// The place for files that are kept between runs.
#pragma once
#include <filesystem>
#include <string>

namespace repro_minify {

/// Returns the folder NAME of ours in the user's cache folder ($XDG_CACHE_HOME or ~/.cache), private, made if it is not
/// there. Empty where another user could change something on the way there, or none can be made.
std::filesystem::path kept_folder(const std::string &name);

} // namespace repro_minify
