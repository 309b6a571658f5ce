// Files are written whole or not at all: beside the target first, then renamed.
#pragma once
#include <string>
#include <string_view>

namespace repro_minify {

/// Throws std::runtime_error, naming the file, when it cannot be written.
void write_atomically(const std::string &path, std::string_view contents);

} // namespace repro_minify
