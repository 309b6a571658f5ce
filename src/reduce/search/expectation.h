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

} // namespace repro_minify
