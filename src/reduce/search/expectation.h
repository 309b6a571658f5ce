// Where the next node that is needed is expected to be. A wrong expectation costs questions, never the result: every
// length keeps a share that is inversely proportional to their number.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

namespace repro_minify {

/// For the shortest failing prefix of a whole program in topological order; `weights[i]` is the suspicion of the node
/// at position i (empty: none). One entry per length, 0 included.
std::vector<double> expected_first(std::size_t nodes, const std::vector<double> &weights);

/// What the anchors so far say about the next.
struct Experience {
  /// How likely it is that 1, 2, 4, ... nodes that are needed still lie scattered over the rest. The more there are,
  /// the nearer the last of them is to the end.
  std::array<double, 7> scattered{0.6, 0.15, 0.1, 0.05, 0.04, 0.03, 0.03};
  int far_in_a_row = 0;          ///< anchors that were not where distance said, since the last that was
  std::size_t ends_in_a_row = 0; ///< anchors that were the very last in line, since the last that was not
  int places = 0;                ///< how often what is needed was not all in one place
  bool halves_help = true;       ///< whether half of what is far away was enough, when last tried

  /// After the shortest failing prefix of a line by distance with that many nodes was found to have that length.
  void learn(std::size_t length, std::size_t nodes);
};

/// For nodes in order of distance from `anchors` that are known.
std::vector<double> expected_next(std::size_t nodes, std::size_t anchors, const Experience &experience,
                                  const std::vector<double> &weights);

} // namespace repro_minify
