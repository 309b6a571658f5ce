// Sorted sets of indices, and the answers that the oracle has given on them.
#pragma once

#include "core/dataflow.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

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
using Fingerprint = std::pair<std::uint64_t, std::uint64_t>;

inline Fingerprint fingerprint(const IndexSet &set) {
  // The finaliser of SplitMix64: every bit of the input changes about half of the output.
  const auto mix = [](std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
  };
  Fingerprint result{0x9e3779b97f4a7c15ULL, 0xd1b54a32d192ed03ULL};
  for (int node : set) {
    const auto word = static_cast<std::uint64_t>(static_cast<std::uint32_t>(node));
    result.first = mix(result.first + word);
    result.second = mix(result.second ^ (word * 0x9e3779b97f4a7c15ULL + 1));
  }
  return result;
}

class Answers {
public:
  std::optional<bool> find(const Fingerprint &set) const {
    const auto found = answers_.find(set);
    return found == answers_.end() ? std::nullopt : std::optional<bool>(found->second);
  }
  void remember(const Fingerprint &set, bool fails) { answers_.emplace(set, fails); }

private:
  struct Hash {
    std::size_t operator()(const Fingerprint &set) const { return static_cast<std::size_t>(set.second); }
  };
  std::unordered_map<Fingerprint, bool, Hash> answers_;
};

} // namespace repro_minify
