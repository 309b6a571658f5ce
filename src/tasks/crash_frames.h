// The parent's side of a crash: what the frames that a child left are called.
#pragma once
#include "tasks/shared_area.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace repro_minify {

/// A child is a copy of its parent, so the parent can look up the child's addresses; only of libraries that the child
/// loaded itself the child has to give the symbols. The parent remembers what it has looked up: that takes a
/// millisecond for each address in a library of LibTorch's size, and a reduction sees the same crash many times.
class FrameNames {
public:
  /// JobEnd::frames
  std::vector<std::string> of(const std::vector<SharedArea::Frame> &frames);

private:
  std::string name_of(const SharedArea::Frame &frame);

  std::unordered_map<const void *, std::string> looked_up_;
};

} // namespace repro_minify
