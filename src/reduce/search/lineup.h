// Nodes lined up for a binary search, with how likely the search is to end at each of them.
#pragma once
#include "program/dataflow/dataflow.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace repro_minify {

/// The search looks for the shortest prefix that fails together with `always`. Length 0 means that `always` fails
/// alone.
class Lineup {
public:
  /// `order` without duplicates; the nodes of `always` are part of every slice and not of `order`. `mass[i]` says how
  /// likely the shortest failing prefix is to be of length i, up to a factor; one entry more than `order`, none
  /// negative.
  Lineup(std::vector<int> order, IndexSet always, std::vector<double> mass);

  std::size_t size() const { return order_.size(); }
  const IndexSet &always() const { return always_; }
  int at(std::size_t position) const { return order_[position]; }
  /// `always` with the nodes at positions begin..end-1.
  IndexSet slice(std::size_t begin, std::size_t end) const;
  IndexSet prefix(std::size_t length) const { return slice(0, length); }
  /// The nodes at positions begin..end-1, in line.
  std::vector<int> nodes(std::size_t begin, std::size_t end) const;
  /// How likely a length of `shortest`..`longest` is, up to the same factor as everywhere.
  double mass(std::size_t shortest, std::size_t longest) const;
  /// The length in `shortest`..`longest`-1 that divides their mass most evenly: up to it, and beyond.
  std::size_t split(std::size_t shortest, std::size_t longest) const;
  /// The same line without those of the first `length` that are not in `kept`; what comes after `length` goes too.
  Lineup narrowed(std::size_t length, const IndexSet &kept) const;

private:
  std::vector<int> order_;
  IndexSet always_;
  std::vector<double> mass_before_; ///< [i]: of all lengths below i
  /// (node, position) by node, so that a long slice costs one walk and no sort; `always` has every_position.
  std::vector<std::pair<int, std::size_t>> by_node_;
  static constexpr std::size_t every_position = static_cast<std::size_t>(-1);
};

} // namespace repro_minify
