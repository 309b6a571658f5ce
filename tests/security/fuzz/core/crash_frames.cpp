// The names of the functions in which a child crashed: the child has written them, and perhaps over them.
#include "tasks/crash_frames.h"

#include "security/fuzz/harness.h"

#include <algorithm>

namespace repro_minify::fuzz {
namespace {

/// A line is a symbol.
std::vector<SharedArea::Frame> frames_in(std::string_view bytes) {
  std::vector<SharedArea::Frame> frames;
  while (!bytes.empty() && frames.size() < SharedArea::most_frames) {
    const auto line = bytes.substr(0, bytes.find('\n'));
    frames.push_back({nullptr, std::string(line)});
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
  }
  return frames;
}

void try_crash_frames(std::string_view bytes) {
  symbol_name(bytes);
  FrameNames names;
  for (const auto &name : names.of(frames_in(bytes)))
    require(std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; }), "a name that cannot be printed");
}

const Registered registered_crash_frames({"crash_frames", try_crash_frames});

} // namespace
} // namespace repro_minify::fuzz
