#include "program/dataflow/dominators.h"

#include "program/dataflow/dataflow.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>

#include <cstddef>
#include <vector>

namespace repro_minify {

std::vector<int> immediate_dominators(const Dataflow &dataflow) {
  using FlowGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  const auto size = static_cast<std::size_t>(dataflow.size());
  // Boost wants one entry: a vertex that leads to every node without producers.
  const std::size_t root = size;
  FlowGraph graph(size + 1);
  for (std::size_t node = 0; node < size; ++node) {
    const IndexSet &producers = dataflow.producers(static_cast<int>(node));
    if (producers.empty())
      boost::add_edge(root, node, graph);
    for (int producer : producers)
      boost::add_edge(static_cast<std::size_t>(producer), node, graph);
  }
  std::vector<std::size_t> tree(size + 1, root);
  boost::lengauer_tarjan_dominator_tree(
      graph, root, boost::make_iterator_property_map(tree.begin(), boost::get(boost::vertex_index, graph)));
  std::vector<int> result(size, no_dominator);
  for (std::size_t node = 0; node < size; ++node)
    if (tree[node] < size)
      result[node] = static_cast<int>(tree[node]);
  return result;
}

} // namespace repro_minify
