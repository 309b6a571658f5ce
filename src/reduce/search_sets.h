// Sorted sets of indices, and the answers that the oracle has given on them.
#pragma once

#include "core/dataflow.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>

namespace repro_minify {

// Small helpers over sorted index sets.

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

// The answers that the oracle has given so far.

/// Stands in for a set: thousands of sets of thousands of nodes would not fit in memory. 128 bits, so that two sets
/// share one by chance about as often as a memory cell turns over by itself.
struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Fingerprint &, const Fingerprint &) = default;
};

Fingerprint fingerprint(const IndexSet &set);

class Answers {
public:
  std::optional<bool> find(const Fingerprint &set) const;
  void remember(const Fingerprint &set, bool fails);

private:
  struct Hash {
    std::size_t operator()(const Fingerprint &set) const { return static_cast<std::size_t>(set.low); }
  };
  std::unordered_map<Fingerprint, bool, Hash> answers_;
};

} // namespace repro_minify
