#include "core/dataflow.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

using DirectedGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
// For pictures too, because walking all edges of a directed graph makes GCC 12 warn inside Boost.
using BidirectionalGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

std::vector<char> membership(int size, const IndexSet &nodes) {
  std::vector<char> members(static_cast<std::size_t>(size), 0);
  for (int node : nodes)
    members.at(static_cast<std::size_t>(node)) = 1;
  return members;
}

/// Returns the nodes in topological order. Edges run from reader to maker: Boost emits a vertex after everything it
/// points at, so makers come first, and since it starts from the lowest index a legal order comes out unchanged.
std::vector<int> order_makers_first(const std::vector<IndexSet> &producers) {
  DirectedGraph reads(producers.size());
  for (std::size_t node = 0; node < producers.size(); ++node)
    for (int producer : producers[node])
      boost::add_edge(node, static_cast<std::size_t>(producer), reads);
  std::vector<int> order;
  order.reserve(producers.size());
  try {
    boost::topological_sort(reads, std::back_inserter(order));
  } catch (const boost::not_a_dag &) {
    throw std::invalid_argument("a dataflow graph cannot contain a cycle");
  }
  return order;
}

/// The text of a quoted DOT string. Boost's own escaping leaves backslashes alone, so that a label that ends in one
/// would swallow the closing quote; and Graphviz reads HTML entities even in plain strings.
std::string escape_label(std::string_view label) {
  std::string escaped;
  for (char c : label) {
    if (c == '"' || c == '\\')
      escaped += {'\\', c};
    else if (c == '\n')
      escaped += "\\n";
    else if (c == '&')
      escaped += "&amp;";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      escaped += ' ';
    else
      escaped += c;
  }
  return escaped;
}

} // namespace

Dataflow::Dataflow(int size, const std::vector<std::pair<int, int>> &def_uses) {
  if (size < 0)
    throw std::invalid_argument("a dataflow graph cannot have a negative number of nodes");
  producers_.resize(static_cast<std::size_t>(size));
  consumers_.resize(static_cast<std::size_t>(size));
  for (const auto &[maker, reader] : def_uses) {
    if (maker < 0 || maker >= size || reader < 0 || reader >= size)
      throw std::invalid_argument("a dataflow edge names a node that does not exist");
    producers_[static_cast<std::size_t>(reader)].push_back(maker);
    consumers_[static_cast<std::size_t>(maker)].push_back(reader);
  }
  // A node that reads the same value twice is still one neighbour.
  for (auto *sides : {&producers_, &consumers_})
    for (IndexSet &side : *sides) {
      std::sort(side.begin(), side.end());
      side.erase(std::unique(side.begin(), side.end()), side.end());
    }
  topological_order_ = order_makers_first(producers_);
}

int Dataflow::size() const {
  return static_cast<int>(producers_.size());
}

const IndexSet &Dataflow::producers(int node) const {
  return producers_.at(static_cast<std::size_t>(node));
}

const IndexSet &Dataflow::consumers(int node) const {
  return consumers_.at(static_cast<std::size_t>(node));
}

const std::vector<int> &Dataflow::topological_order() const {
  return topological_order_;
}

std::vector<int> Dataflow::undirected_distances(const IndexSet &from, const IndexSet &within) const {
  std::vector<char> open = membership(size(), within);
  std::vector<int> distances(open.size(), size()), reached(from);
  for (int node : from) {
    open.at(static_cast<std::size_t>(node)) = 0;
    distances[static_cast<std::size_t>(node)] = 0;
  }
  for (std::size_t next = 0; next < reached.size(); ++next)
    for (const IndexSet *neighbours : {&producers(reached[next]), &consumers(reached[next])})
      for (int neighbour : *neighbours)
        if (std::exchange(open[static_cast<std::size_t>(neighbour)], 0)) {
          distances[static_cast<std::size_t>(neighbour)] = distances[static_cast<std::size_t>(reached[next])] + 1;
          reached.push_back(neighbour);
        }
  return distances;
}

IndexSet Dataflow::ball(const IndexSet &centre, int radius, const IndexSet &within) const {
  const std::vector<int> distances = undirected_distances(centre, within);
  IndexSet inside;
  for (int node = 0; node < size(); ++node) {
    const int distance = distances[static_cast<std::size_t>(node)];
    if (distance <= radius && distance < size())
      inside.push_back(node);
  }
  return inside;
}

void Dataflow::write_graphviz(std::ostream &out, const std::vector<std::string> &labels, const IndexSet &marked,
                              const std::vector<std::string> &fills) const {
  BidirectionalGraph graph(producers_.size());
  for (std::size_t node = 0; node < producers_.size(); ++node)
    for (int producer : producers_[node])
      boost::add_edge(static_cast<std::size_t>(producer), node, graph);
  const std::vector<char> filled = membership(size(), marked);
  const auto write_node = [&](std::ostream &stream, std::size_t node) {
    stream << " [label=\"" << (node < labels.size() ? escape_label(labels[node]) : std::to_string(node)) << '"';
    const bool has_fill = node < fills.size() && !fills[node].empty();
    if (has_fill)
      stream << ", style=filled, fillcolor=\"" << escape_label(fills[node]) << '"';
    if (filled[node])
      stream << (fills.empty() ? ", style=filled" : ", color=red, penwidth=4");
    stream << ']';
  };
  boost::write_graphviz(out, graph, write_node);
}

std::vector<int> immediate_dominators(const Dataflow &dataflow) {
  const auto size = static_cast<std::size_t>(dataflow.size());
  // Boost wants one entry: a vertex that leads to every node without producers.
  const std::size_t root = size;
  BidirectionalGraph graph(size + 1);
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

std::vector<int> strong_components(int size, const std::vector<std::pair<int, int>> &edges) {
  DirectedGraph graph(static_cast<std::size_t>(size));
  for (const auto &[from, to] : edges)
    boost::add_edge(static_cast<std::size_t>(from), static_cast<std::size_t>(to), graph);
  std::vector<std::size_t> found(static_cast<std::size_t>(size));
  const auto index = boost::get(boost::vertex_index, graph);
  const std::size_t count = boost::strong_components(graph, boost::make_iterator_property_map(found.begin(), index));
  // Boost numbers components in the order in which its search leaves them; ours go by their first vertex.
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
