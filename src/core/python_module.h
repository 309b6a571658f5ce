// Modules of Python that the user names (--import): "package.module", which Python finds, or the path of a FILE.py.
#pragma once
#include <string>

namespace repro_minify {

/// True if a file is named.
bool is_python_file(const std::string &module);
/// Returns what a Python that is started in another folder imports it by: the full path of a file.
std::string importable(const std::string &module);
/// Returns why no module can be that; empty where one can.
std::string no_module_because(const std::string &module);

} // namespace repro_minify
