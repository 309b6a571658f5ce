// The values of an Analysis as a page has them: a graph to look at, and an entry for each that the graph leads to.
#pragma once

#include "repro/graph_picture.h"
#include "repro_minify/analysis.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace repro_minify {

/// The settings and data with which a page lists the values of one graph, in addition to the Analysis.
struct ValueListOptions {
  std::string prefix;            ///< of keys and anchors: "o" gives "o12"
  std::vector<std::string> keys; ///< of each row, where another graph on the page shows the same node; may be shorter
  std::vector<char> kept;        ///< rows that are in the reduced program; may be shorter
  bool draws_parameters = false; ///< parameters and buffers are boxes too
  size_t shown_elements = 8;     ///< how many of a value that is too large to be shown in full, in its entry
  size_t most_boxes = 1500;      ///< beyond that the neighbourhood of what matters is drawn
  std::string label;             ///< of the picture, for who cannot see it
  std::function<bool()> interrupted; ///< polled: true ends the drawing
};

struct LegendEntry {
  std::string classes; ///< classes of page.css
  std::string meaning;
};

struct ValueList {
  GraphPicture picture;
  std::vector<LegendEntry> legend; ///< an entry for each colour that is in the picture
  std::string entries;             ///< HTML
  size_t drawn = 0;                ///< values that are drawn and listed
};

/// For the pages' templates.
nlohmann::json legend_json(const ValueList &list);

/// Key of a row, as ValueListOptions say.
std::string key_of(const ValueListOptions &options, size_t row);

ValueList value_list(const Analysis &analysis, const ValueListOptions &options);

} // namespace repro_minify
