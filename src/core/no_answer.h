// The check itself could not be made, for want of something that may be there a moment later: a process, room on the
// disk, a compiler. It says nothing of what was checked.
#pragma once

#include <stdexcept>
#include <string_view>

namespace repro_minify {

/// Leaves a check; the question is then asked again, and the answer never remembered.
class NoAnswer : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// Recognises messages that memory has run out: those of LibTorch's allocators for the CPU (on Linux, and elsewhere),
// which have no error class of their own, of CUDA's, and of runtimes such as ONNX Runtime.

/// Asks for no memory itself: there may be none left.
inline bool is_out_of_memory(std::string_view message) {
  for (const std::string_view words : {"not enough memory", "can't allocate memory", "out of memory", "std::bad_alloc",
                                       "bad allocation", "Failed to allocate memory"})
    if (message.find(words) != std::string_view::npos)
      return true;
  return false;
}

} // namespace repro_minify
