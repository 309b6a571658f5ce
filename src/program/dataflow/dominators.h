// Dominators: the nodes that every path to a node passes through, such as the value that a whole stretch of a graph
// starts from.
#pragma once
#include "program/dataflow/dataflow.h"

#include <vector>

namespace repro_minify {

/// Stands for no node.
inline constexpr int no_dominator = -1;

/// Returns for each node the last other node that lies on every path to it from the nodes without producers.
/// no_dominator for those nodes, and for one that paths from several of them meet in. Near-linear (Lengauer and
/// Tarjan).
std::vector<int> immediate_dominators(const Dataflow &dataflow);

} // namespace repro_minify
