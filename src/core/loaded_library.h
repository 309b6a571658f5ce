// Where a shared library lies that this process runs with.
#pragma once
#include <string>

namespace repro_minify {

/// The folder, without links, of a library of that name (libtorch_cpu.so) which is loaded already. Empty where none is.
std::string folder_of_loaded_library(const std::string &name);

/// The LibTorch in use: the folder above the lib/ that libtorch_cpu.so came from, or, where none is loaded, the one
/// that this was built with. A wheel is installed where another Python has its torch.
std::string torch_prefix_in_use(const std::string &built_with);

} // namespace repro_minify
