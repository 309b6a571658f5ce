// The second stage: no operator writes to a tensor any more. One that did is replaced by its functional twin, and later
// readers of the same memory read the new value.
#pragma once
#include "backends/inductor_like/straight_line.h"

#include <vector>

namespace repro_minify::inductor_like {

/// An input that the program writes to, and the output of the functional graph that it has to be given.
struct InputUpdate {
  size_t input = 0;
  size_t output = 0;
};

struct Functional {
  StraightLine line; ///< its outputs: those of the original, then the new contents of inputs
  std::vector<InputUpdate> updates;
};

/// Throws NotCovered for an operator that writes and has no functional twin, and for memory shared in a way that
/// cannot be said with views of one contiguous tensor.
Functional functionalise(const StraightLine &line);

} // namespace repro_minify::inductor_like
