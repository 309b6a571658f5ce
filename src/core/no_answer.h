// The check itself could not be made, for want of something that may be there a moment later: a process, room on the
// disk, a compiler. It says nothing of what was checked.
#pragma once
#include <stdexcept>

namespace repro_minify {

/// Leaves a check; the question is then asked again, and the answer never remembered.
class NoAnswer : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace repro_minify
