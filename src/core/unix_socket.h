// Unix sockets in a folder of the program's own. Problems are a std::runtime_error, in words for the user of the tool.
#pragma once
#include <string>

namespace repro_minify {

/// A socket that listens at `path`, closed on exec.
int listening_socket(const std::string &path);
/// A connection to it, closed on exec; -1 when no process listens.
int connected_socket(const std::string &path);

} // namespace repro_minify
