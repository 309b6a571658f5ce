// Small functions that generated kernels call, the same for the processor and for CUDA.
#pragma once
#include <string>

namespace repro_minify {

/// Those that the kernels mention.
std::string helpers_of(const std::string &kernels, bool on_cuda = false);

/// True if the word stands in the text, not as a part of a longer one.
bool mentions(const std::string &text, const std::string &word);

} // namespace repro_minify
