// The Python that has torch, and the Python files of ours that it runs.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// A Python file of this installation, else of the source tree.
std::string script_of_ours(const std::string &installed, const std::string &in_source);
/// The interpreter to use: `given`, else that of the virtual environment LibTorch lies in, else python3; empty if none
/// of them has torch. Imports nothing.
std::string find_python_with_torch(const std::string &given);
/// Returns the folders that an interpreter reads: its own with its packages, its virtual environment's, the user's, and
/// those of PYTHONPATH.
std::vector<std::string> folders_of_python(const std::string &python);

} // namespace repro_minify
