// Small helpers over sorted index sets.
#pragma once
#include "program/dataflow/dataflow.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace repro_minify {

inline IndexSet sorted_set(IndexSet nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

inline IndexSet unite(const IndexSet &left, const IndexSet &right) {
  IndexSet result;
  result.reserve(left.size() + right.size());
  std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(result));
  return result;
}

inline IndexSet intersect(const IndexSet &left, const IndexSet &right) {
  IndexSet result;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(result));
  return result;
}

inline IndexSet subtract(const IndexSet &from, const IndexSet &gone) {
  IndexSet result;
  result.reserve(from.size());
  std::set_difference(from.begin(), from.end(), gone.begin(), gone.end(), std::back_inserter(result));
  return result;
}

inline IndexSet without_position(const IndexSet &from, std::size_t position) {
  IndexSet result;
  result.reserve(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    if (i != position)
      result.push_back(from[i]);
  return result;
}

} // namespace repro_minify
