// Where things are kept between runs.
#pragma once
#include <filesystem>
#include <string>

namespace repro_minify {

/// The folder NAME of ours in the user's cache folder ($XDG_CACHE_HOME or ~/.cache), private, made if it is not there.
/// Empty where somebody else could change something on the way there, or none can be made.
std::filesystem::path kept_folder(const std::string &name);

} // namespace repro_minify
