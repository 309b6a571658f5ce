#include "reduce/search/node_order.h"

#include <algorithm>

namespace repro_minify {

NodeOrder::NodeOrder(std::vector<int> order, IndexSet always) : order_(std::move(order)), always_(std::move(always)) {
  by_node_.reserve(order_.size() + always_.size());
  for (std::size_t position = 0; position < order_.size(); ++position)
    by_node_.emplace_back(order_[position], position);
  for (int node : always_)
    by_node_.emplace_back(node, every_position);
  std::sort(by_node_.begin(), by_node_.end());
}

IndexSet NodeOrder::slice(std::size_t begin, std::size_t end) const {
  IndexSet result;
  for (const auto &[node, position] : by_node_)
    if (position == every_position || (begin <= position && position < end))
      result.push_back(node);
  return result;
}

} // namespace repro_minify
