// The values of an Analysis as a page has them: a graph to look at, and an entry for each that the graph leads to.
#pragma once
#include "core/json.h"
#include "repro_minify/analysis.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

// A graph as inline SVG: boxes that are links to what is said of them.

struct GraphPicture {
  struct Box {
    std::vector<std::string> lines; ///< text in it, shortened here
    std::string key;                ///< elements of the page with the same key are highlighted together
    std::string anchor;             ///< id of the element that it leads to
    std::string classes;            ///< of page.css, "cause kept"
  };
  std::string svg;     ///< empty: there is none
  std::string problem; ///< why there is none, and what to do
};

/// `label`: what it shows, for who cannot see it.
GraphPicture draw_graph(const std::vector<GraphPicture::Box> &boxes, const std::vector<std::pair<int, int>> &edges,
                        const std::string &label, const std::function<bool()> &interrupted = {});

struct ValueList {
  /// The settings and data with which a page lists the values of one graph, in addition to the Analysis.
  struct Options {
    std::string prefix;            ///< of keys and anchors: "o" gives "o12"
    std::vector<std::string> keys; ///< of each row, where another graph on the page shows the same node; may be shorter
    std::vector<char> kept;        ///< rows that are in the reduced program; may be shorter
    bool draws_parameters = false; ///< parameters and buffers are boxes too
    size_t shown_elements = 8;     ///< how many of a value that is too large to be shown in full, in its entry
    size_t most_boxes = 1500;      ///< beyond that the neighbourhood of what matters is drawn
    std::string label;             ///< of the picture, for who cannot see it
    std::function<bool()> interrupted; ///< polled: true ends the drawing
  };
  GraphPicture picture;
  json legend;         ///< {"classes" of page.css, "meaning"} for each colour that is in the picture
  std::string entries; ///< HTML
  size_t drawn = 0;    ///< values that are drawn and listed
};

/// Key of a row, as ValueList::Options say.
std::string key_of(const ValueList::Options &options, size_t row);

ValueList value_list(const Analysis &analysis, const ValueList::Options &options);

/// Returns the values that the pages' templates show of a list of `analysis`.
json graph_json(const ValueList &list, const Analysis &analysis);

// Where the boxes and the lines of a graph go: Graphviz's `dot` says it. It is given numbers alone, no text of a model.

/// In points, like all that follows.
struct Size {
  double width = 0, height = 0;
};
struct GraphLayout {
  struct Point {
    double x = 0, y = 0;
  };
  struct Curve {
    int from = 0, to = 0;
    std::vector<Point> points; ///< of cubic Bezier curves: one, and three for each curve
  };
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
