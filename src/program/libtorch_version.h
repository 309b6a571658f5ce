#pragma once

#include <string>

namespace repro_minify {

/// Returns the version of the LibTorch that is loaded ("2.14.0"). A program serves every patch version of the one that
/// it was compiled for, so that TORCH_VERSION may be another.
std::string libtorch_version();

} // namespace repro_minify
