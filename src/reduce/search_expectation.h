// Where the next node that is needed is expected to be, and the nodes in line for a binary search.
#pragma once

#include "core/dataflow.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace repro_minify {

// Where the next node that is needed is expected to be. A wrong expectation costs questions, never the result: every
// length keeps a share that is inversely proportional to their number.

/// For the shortest failing prefix of a whole program in topological order; `weights[i]` is the suspicion of the node
/// at position i (empty: none). One entry per length, 0 included.
std::vector<double> expected_first(std::size_t nodes, const std::vector<double> &weights);

/// The experience with the anchors so far, and what it says about the next.
class Experience {
public:
  static constexpr std::size_t most_elsewhere = 64;
  /// How likely it is that so many needed nodes lie scattered over the rest (the last entry: that many or more). The
  /// more there are, the nearer the last of them is to the end.
  using Counts = std::array<double, most_elsewhere + 1>;

  Experience();

  /// After the shortest failing prefix of a whole program with that many nodes was found to have that length.
  void learn_first(std::size_t length, std::size_t nodes);
  /// After that of a line by distance from `anchors` nodes.
  void learn_next(std::size_t length, std::size_t nodes, std::size_t anchors);
  /// For nodes in order of distance from `anchors` that are known.
  std::vector<double> expected_next(std::size_t nodes, std::size_t anchors, const std::vector<double> &weights) const;

  std::size_t ends_in_a_row = 0; ///< anchors that were the very last in line, since the last that was not
  int places = 0;                ///< how often what is needed was not all in one place
  bool halves_help = true;       ///< whether half of what is far away was enough, when last tried

private:
  /// The expectation if nothing that is needed lies elsewhere.
  struct Local {
    double none;    ///< the anchors are all
    double near;    ///< others are close by
    double further; ///< or at a distance of any scale
  };
  Local local(std::size_t anchors) const;

  Counts elsewhere_;
  bool last_was_far_ = false; ///< the last anchor was probably not where distance said
};

// Nodes lined up for a binary search, with how likely the search is to end at each of them.

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
