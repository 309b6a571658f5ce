// The operators that show the elements of one tensor at other places.
#pragma once
#include "backends/inductor_like/lazy.h"

#include <optional>

namespace repro_minify::inductor_like {

/// Returns the view of `source`; nothing for a node that is no view or not in the table. `result` is what the output
/// looked like when it was observed.
std::optional<Lazy> view_of(const torch::jit::Node *node, const Lazy &source, const Observation &seen,
                            const ObservedTensor &result);

/// The parts that chunk, split and unbind give; empty for any other node.
std::vector<Lazy> parts_of(const torch::jit::Node *node, const Lazy &source, const Observation &seen);

} // namespace repro_minify::inductor_like
