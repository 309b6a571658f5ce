// The dataflow view of a Program, in terms of indices: one vertex per node, one edge per def-use. Boost.Graph sorts
// and draws it, and finds dominators and components.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// A set of node indices, sorted and without duplicates.
using IndexSet = std::vector<int>;

/// An immutable directed acyclic graph over nodes 0..size-1; an edge (a, b) says that b reads what a makes.
class Dataflow {
public:
  /// Throws std::invalid_argument for an edge outside 0..size-1 or a cycle.
  Dataflow(int size, const std::vector<std::pair<int, int>> &def_uses);

  int size() const;
  const IndexSet &producers(int node) const;
  const IndexSet &consumers(int node) const;

  /// Every node before the nodes that read it. Index order where that is already legal; else each node is preceded by
  /// the producers that index order would have put too late. The same on every machine.
  const std::vector<int> &topological_order() const;
  /// Hops from the nearest of `from` along edges of either direction, walking inside `within` (and `from`) only;
  /// unreachable nodes get size(). One entry per node of the whole graph.
  std::vector<int> undirected_distances(const IndexSet &from, const IndexSet &within) const;
  /// The nodes of `within` at most `radius` hops (either direction, inside `within`) from `centre`, `centre` included.
  IndexSet ball(const IndexSet &centre, int radius, const IndexSet &within) const;
  /// Writes DOT. `labels[i]` is escaped here, it may hold any text. A node with a fill ("#rrggbb") has that colour;
  /// nodes of `marked` are filled, or outlined in red where fills are given.
  void write_graphviz(std::ostream &out, const std::vector<std::string> &labels, const IndexSet &marked = {},
                      const std::vector<std::string> &fills = {}) const;

private:
  std::vector<IndexSet> producers_;
  std::vector<IndexSet> consumers_;
  std::vector<int> topological_order_;
};

// Dominators: the nodes that every path to a node passes through, such as the value that a whole stretch of a graph
// starts from.

/// Stands for no node.
inline constexpr int no_dominator = -1;

/// Returns for each node the last other node that lies on every path to it from the nodes without producers.
/// no_dominator for those nodes, and for one that paths from several of them meet in. Near-linear (Lengauer and
/// Tarjan).
std::vector<int> immediate_dominators(const Dataflow &dataflow);

// Strongly connected components: nodes that lie on cycles, and can only be put in order as one.

/// Returns for each node of 0..size-1 the number of its strongly connected component: the first node's is 0, the next
/// new one 1 and so on. Linear (Tarjan).
std::vector<int> strong_components(int size, const std::vector<std::pair<int, int>> &edges);

} // namespace repro_minify
