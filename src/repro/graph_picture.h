// A graph as inline SVG: boxes that are links to what is said of them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

struct PictureBox {
  std::vector<std::string> lines; ///< text in it, shortened here
  std::string key;                ///< elements of the page with the same key are highlighted together
  std::string anchor;             ///< id of the element that it leads to
  std::string classes;            ///< of page.css, "cause kept"
};

struct GraphPicture {
  std::string svg;     ///< empty: there is none
  std::string problem; ///< why there is none, and what to do
};

/// `label`: what it shows, for who cannot see it.
GraphPicture draw_graph(const std::vector<PictureBox> &boxes, const std::vector<std::pair<int, int>> &edges,
                        const std::string &label, const std::function<bool()> &interrupted = {});

/// The first characters of a text, with an ellipsis where there are more.
std::string shortened_label(const std::string &text, size_t most);

} // namespace repro_minify
