// Recognises messages that memory has run out: those of LibTorch's allocators for the CPU (on Linux, and
// elsewhere), which have no error class of their own, and of CUDA's.
#pragma once
#include <string_view>

namespace repro_minify {

/// Asks for no memory itself: there may be none left.
inline bool is_out_of_memory(std::string_view message) {
  for (const std::string_view words : {"not enough memory", "can't allocate memory", "out of memory"})
    if (message.find(words) != std::string_view::npos)
      return true;
  return false;
}

} // namespace repro_minify
