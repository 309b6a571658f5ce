// Where the boxes and the lines of a graph go: Graphviz's `dot` says it. It is given numbers alone, no text of a model.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// In points, like all that follows.
struct Size {
  double width = 0, height = 0;
};
struct Point {
  double x = 0, y = 0;
};

struct Curve {
  int from = 0, to = 0;
  std::vector<Point> points; ///< of cubic Bezier curves: one, and three for each curve
};

struct GraphLayout {
  Size size;
  std::vector<Point> centres; ///< of each box, y pointing down
  std::vector<Curve> curves;
  std::string problem; ///< why there is no layout, and what to do; empty: there is one
};

/// Never throws for what `dot` does. It is given a minute, and ends when `interrupted` answers true.
GraphLayout lay_out(const std::vector<Size> &boxes, const std::vector<std::pair<int, int>> &edges,
                    const std::function<bool()> &interrupted = {});

/// Reads what `dot -Tplain` printed for boxes n0, n1, ... Any other text gives a GraphLayout with a problem.
GraphLayout read_plain_layout(const std::string &text, size_t boxes);

} // namespace repro_minify
