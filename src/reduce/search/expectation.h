// Where the next node that is needed is expected to be. A wrong expectation costs questions, never the result: every
// length keeps a share that is inversely proportional to their number.
#pragma once
#include <cstddef>
#include <vector>

namespace repro_minify {

/// For the shortest failing prefix of a whole program in topological order; `weights[i]` is the suspicion of the node
/// at position i (empty: none). One entry per length, 0 included.
std::vector<double> expected_first(std::size_t nodes, const std::vector<double> &weights);

/// For nodes in order of distance from `anchors` that are known; `near` false: distance has been a bad guide so far.
std::vector<double> expected_next(std::size_t nodes, std::size_t anchors, bool near,
                                  const std::vector<double> &weights);

} // namespace repro_minify
