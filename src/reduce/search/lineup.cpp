#include "reduce/search/lineup.h"

#include "program/dataflow/dataflow.h"
#include "reduce/search/index_sets.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {
/// Below this share of the line a slice is sorted, above it the whole line is walked.
constexpr std::size_t short_slice = 16;
} // namespace

Lineup::Lineup(std::vector<int> order, IndexSet always, std::vector<double> mass)
    : order_(std::move(order)), always_(std::move(always)), mass_before_(mass.size() + 1, 0) {
  for (std::size_t length = 0; length < mass.size(); ++length)
    mass_before_[length + 1] = mass_before_[length] + mass[length];
  by_node_.reserve(order_.size() + always_.size());
  for (std::size_t position = 0; position < order_.size(); ++position)
    by_node_.emplace_back(order_[position], position);
  for (int node : always_)
    by_node_.emplace_back(node, every_position);
  std::sort(by_node_.begin(), by_node_.end());
}

std::vector<int> Lineup::nodes(std::size_t begin, std::size_t end) const {
  return {order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.begin() + static_cast<std::ptrdiff_t>(end)};
}

IndexSet Lineup::slice(std::size_t begin, std::size_t end) const {
  if ((end - begin) * short_slice < order_.size())
    return unite(sorted_set(nodes(begin, end)), always_);
  IndexSet result;
  result.reserve(end - begin + always_.size());
  for (const auto &[node, position] : by_node_)
    if (position == every_position || (begin <= position && position < end))
      result.push_back(node);
  return result;
}

double Lineup::mass(std::size_t shortest, std::size_t longest) const {
  return mass_before_[longest + 1] - mass_before_[shortest];
}

std::size_t Lineup::split(std::size_t shortest, std::size_t longest) const {
  const double middle = (mass_before_[shortest] + mass_before_[longest + 1]) / 2;
  const auto first = mass_before_.begin() + static_cast<std::ptrdiff_t>(shortest) + 1;
  const auto last = mass_before_.begin() + static_cast<std::ptrdiff_t>(longest);
  // The first boundary at or after the middle, unless the one before is nearer.
  auto boundary = std::lower_bound(first, last, middle);
  if (boundary != first && middle - *(boundary - 1) < *boundary - middle)
    --boundary;
  return static_cast<std::size_t>(std::min(boundary, last) - mass_before_.begin()) - 1;
}

Lineup Lineup::narrowed(std::size_t length, const IndexSet &kept) const {
  std::vector<int> order;
  std::vector<double> masses{mass(0, 0)};
  for (std::size_t position = 0; position < length; ++position)
    if (std::binary_search(kept.begin(), kept.end(), order_[position])) {
      order.push_back(order_[position]);
      masses.push_back(mass(position + 1, position + 1));
    }
  return Lineup(std::move(order), always_, std::move(masses));
}

} // namespace repro_minify
