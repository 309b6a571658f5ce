// Strongly connected components: nodes that lie on cycles, and can only be put in order as one.
#pragma once
#include <utility>
#include <vector>

namespace repro_minify {

/// Returns for each node of 0..size-1 the number of its strongly connected component: the first node's is 0, the next
/// new one 1 and so on. Linear (Tarjan).
std::vector<int> strong_components(int size, const std::vector<std::pair<int, int>> &edges);

} // namespace repro_minify
