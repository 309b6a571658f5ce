#include "repro/value_list.h"

#include "core/escape.h"
#include "core/number_text.h"
#include "repro/render.h"

#include <algorithm>

namespace repro_minify {
namespace {

constexpr size_t most_letters = 30;
constexpr double letter_width = 6.7, line_height = 15, margin = 8; // of page.css's 11 px monospace

/// One character more, as UTF-8 begins them.
bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

size_t letters_in(const std::string &text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string path_of(const GraphLayout::Curve &curve) {
  std::string path;
  for (size_t i = 0; i < curve.points.size(); ++i) {
    path += i == 0 ? "M" : i == 1 ? "C" : " ";
    path += fixed_text(curve.points[i].x, 1) + "," + fixed_text(curve.points[i].y, 1);
  }
  return path;
}

/// The first characters of a text, with an ellipsis where there are more.
std::string shortened_label(const std::string &text, size_t most) {
  if (letters_in(text) <= most)
    return text;
  size_t letters = 0, end = 0;
  for (; end < text.size(); ++end)
    if (begins_character(text[end]) && ++letters > most - 1)
      break;
  return text.substr(0, end) + "\u2026";
}

/// Returns the lines of each box as they are drawn: not empty, of limited length, without invisible characters.
std::vector<std::vector<std::string>> lines_of(const std::vector<GraphPicture::Box> &boxes) {
  std::vector<std::vector<std::string>> all;
  for (const auto &box : boxes) {
    std::vector<std::string> lines;
    for (const auto &line : box.lines)
      if (!line.empty())
        lines.push_back(shortened_label(comment_text(line), most_letters));
    all.push_back(std::move(lines));
  }
  return all;
}

Size size_of(const std::vector<std::string> &lines) {
  size_t longest = 4;
  for (const auto &line : lines)
    longest = std::max(longest, letters_in(line));
  return {static_cast<double>(longest) * letter_width + 2 * margin,
          static_cast<double>(lines.size()) * line_height + margin};
}

json box_json(const GraphPicture::Box &box, const std::vector<std::string> &lines, const GraphLayout::Point &centre) {
  const Size size = size_of(lines);
  json texts = json::array();
  const double first = centre.y - size.height / 2 + margin / 2 + 0.75 * line_height;
  for (size_t i = 0; i < lines.size(); ++i)
    texts.push_back({{"text", lines[i]},
                     {"text_y", fixed_text(first + static_cast<double>(i) * line_height, 1)},
                     {"text_x", fixed_text(centre.x, 1)}});
  return {{"key", box.key},
          {"anchor", box.anchor},
          {"classes", box.classes},
          {"x", fixed_text(centre.x - size.width / 2, 1)},
          {"y", fixed_text(centre.y - size.height / 2, 1)},
          {"width", fixed_text(size.width, 1)},
          {"height", fixed_text(size.height, 1)},
          {"lines", texts}};
}

} // namespace

GraphPicture draw_graph(const std::vector<GraphPicture::Box> &boxes, const std::vector<std::pair<int, int>> &edges,
                        const std::string &label, const std::function<bool()> &interrupted) {
  if (boxes.empty())
    return {"", interrupted && interrupted() ? "the run was interrupted, or its time budget spent"
                                             : "there is nothing to draw"};
  const auto lines = lines_of(boxes);
  std::vector<Size> sizes;
  for (const auto &text : lines)
    sizes.push_back(size_of(text));
  const GraphLayout layout = lay_out(sizes, edges, interrupted);
  if (!layout.problem.empty())
    return {"", layout.problem};
  json drawn = json::array(), curves = json::array();
  for (size_t i = 0; i < boxes.size(); ++i)
    drawn.push_back(box_json(boxes[i], lines[i], layout.centres[i]));
  for (const auto &curve : layout.curves)
    curves.push_back({{"path", path_of(curve)}});
  constexpr double rim = 12; // room for the outline of what is lit, 6 on each side
  return {render("graph.svg.tpl", {{"width", fixed_text(layout.size.width + rim, 1)},
                                   {"height", fixed_text(layout.size.height + rim, 1)},
                                   {"label", label},
                                   {"boxes", drawn},
                                   {"curves", curves}}),
          ""};
}

} // namespace repro_minify
