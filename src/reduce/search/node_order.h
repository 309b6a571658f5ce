// Nodes put in an order of interest, whose slices are handed out as sorted sets.
#pragma once
#include "dataflow/dataflow.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace repro_minify {

class NodeOrder {
public:
  /// `order` without duplicates; the nodes of `always` are part of every slice and not of `order`.
  explicit NodeOrder(std::vector<int> order, IndexSet always = {});

  std::size_t size() const { return order_.size(); }
  const IndexSet &always() const { return always_; }
  int at(std::size_t position) const { return order_[position]; }
  /// `always` with the nodes at positions begin..end-1.
  IndexSet slice(std::size_t begin, std::size_t end) const;
  IndexSet prefix(std::size_t length) const { return slice(0, length); }

private:
  std::vector<int> order_;
  IndexSet always_;
  /// (node, position) by node, so that a slice costs one walk and no sort; `always` has the position every_position.
  std::vector<std::pair<int, std::size_t>> by_node_;
  static constexpr std::size_t every_position = static_cast<std::size_t>(-1);
};

} // namespace repro_minify
