// The text of --version.
#pragma once
#include <string>

namespace repro_minify {

/// The version, and on lines of their own what this was built from and with: torch, the commit, the compiler.
std::string version_text();

} // namespace repro_minify
