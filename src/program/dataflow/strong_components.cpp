#include "program/dataflow/strong_components.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace repro_minify {

std::vector<int> strong_components(int size, const std::vector<std::pair<int, int>> &edges) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(static_cast<std::size_t>(size));
  for (const auto &[from, to] : edges)
    boost::add_edge(static_cast<std::size_t>(from), static_cast<std::size_t>(to), graph);
  std::vector<std::size_t> found(static_cast<std::size_t>(size));
  const auto index = boost::get(boost::vertex_index, graph);
  const std::size_t count = boost::strong_components(graph, boost::make_iterator_property_map(found.begin(), index));
  // Boost numbers them as its search leaves them.
  std::vector<int> number(count, -1), result;
  int next = 0;
  for (const std::size_t component : found) {
    if (number[component] < 0)
      number[component] = next++;
    result.push_back(number[component]);
  }
  return result;
}

} // namespace repro_minify
