// What goes round in circles: nodes that can only be put in order as one.
#pragma once
#include <utility>
#include <vector>

namespace repro_minify {

/// By node of 0..size-1: the number of its strongly connected component, the first node's 0, the next new one 1 and so
/// on. Linear (Tarjan).
std::vector<int> strong_components(int size, const std::vector<std::pair<int, int>> &edges);

} // namespace repro_minify
