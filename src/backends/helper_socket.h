// Where a helper process of a backend is met.
#pragma once
#include <string>

namespace repro_minify {

/// Returns the same as listening_socket(). Throws a UserError that begins with the backend's name on the command line.
int listening_socket_of(const std::string &backend, const std::string &path);

} // namespace repro_minify
