#include "bench/planted/plot.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

namespace repro_minify::bench {
namespace {

constexpr double panel_width = 300, panel_height = 240, margin = 50, legend_width = 110;
constexpr double most_nodes = 4.5, least_nodes = 1.5, most_queries = 4; ///< powers of ten
constexpr const char *colours[] = {"#0060c0", "#d04030", "#208040", "#a060c0", "#c08000", "#606060", "#000000"};

using Points = std::vector<std::pair<double, double>>;

struct Panel {
  std::vector<std::string> tools; ///< in order of appearance, the bound last
  std::map<std::string, Points> lines;
};

Panel panel_of(const std::vector<Measurement> &measurements, const std::string &shape) {
  Panel panel;
  Points bound;
  for (const Measurement &measurement : measurements) {
    if (measurement.name != std::to_string(measurement.nodes) + " " + shape)
      continue;
    if (!panel.lines.contains(measurement.tool))
      panel.tools.push_back(measurement.tool);
    if (!measurement.gave_up)
      panel.lines[measurement.tool].emplace_back(measurement.nodes, measurement.queries);
    if (measurement.tool == panel.tools.front())
      bound.emplace_back(measurement.nodes, measurement.bound);
  }
  panel.tools.push_back("bound");
  panel.lines["bound"] = std::move(bound);
  return panel;
}

double x_of(double nodes) {
  return (std::log10(nodes) - least_nodes) / (most_nodes - least_nodes) * panel_width;
}

double y_of(double queries) {
  return panel_height * (1 - std::log10(std::max(queries, 1.0)) / most_queries);
}

void write_axes(std::ostream &out, const std::string &title) {
  out << "<rect width='" << panel_width << "' height='" << panel_height << "' fill='none' stroke='#888'/>\n"
      << "<text x='" << panel_width / 2 << "' y='-10' text-anchor='middle'>" << title << "</text>\n";
  for (double nodes : {100.0, 1000.0, 10000.0})
    out << "<text x='" << x_of(nodes) << "' y='" << panel_height + 16 << "' text-anchor='middle'>" << nodes
        << "</text>\n";
  for (double queries = 1; queries <= 10000; queries *= 10)
    out << "<line x2='" << panel_width << "' y1='" << y_of(queries) << "' y2='" << y_of(queries)
        << "' stroke='#ddd'/><text x='-6' y='" << y_of(queries) + 4 << "' text-anchor='end'>" << queries << "</text>\n";
}

void write_lines(std::ostream &out, const Panel &panel) {
  for (std::size_t i = 0; i < panel.tools.size(); ++i) {
    const bool bound = panel.tools[i] == "bound";
    const char *colour = bound ? "#000000" : colours[i % std::size(colours)];
    out << "<polyline fill='none' stroke-width='2' stroke='" << colour << "'"
        << (bound ? " stroke-dasharray='4 3'" : "") << " points='";
    for (const auto &[nodes, queries] : panel.lines.at(panel.tools[i]))
      out << x_of(nodes) << ',' << y_of(queries) << ' ';
    out << "'/>\n";
  }
}

void write_legend(std::ostream &out, const Panel &panel) {
  for (std::size_t i = 0; i < panel.tools.size(); ++i) {
    const double y = 20 + 18 * static_cast<double>(i);
    const bool bound = panel.tools[i] == "bound";
    out << "<line x1='0' x2='18' y1='" << y << "' y2='" << y << "' stroke-width='2' stroke='"
        << (bound ? "#000000" : colours[i % std::size(colours)]) << "'" << (bound ? " stroke-dasharray='4 3'" : "")
        << "/><text x='24' y='" << y + 4 << "'>" << panel.tools[i] << "</text>\n";
  }
}

} // namespace

void write_plot(const std::string &path, const std::vector<Measurement> &measurements,
                const std::vector<std::string> &shapes) {
  std::ofstream out(path);
  if (!out)
    throw std::runtime_error("cannot write " + path);
  const double step = panel_width + margin;
  const double panels = static_cast<double>(shapes.size());
  out << "<svg xmlns='http://www.w3.org/2000/svg' font-family='sans-serif' font-size='12' width='"
      << margin + panels * step + legend_width << "' height='" << panel_height + 2 * margin << "'>\n"
      << "<rect width='100%' height='100%' fill='white'/>\n";
  Panel panel;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    panel = panel_of(measurements, shapes[i]);
    out << "<g transform='translate(" << margin + static_cast<double>(i) * step << ' ' << margin << ")'>\n";
    write_axes(out, "queries against nodes: " + shapes[i]);
    write_lines(out, panel);
    out << "</g>\n";
  }
  out << "<g transform='translate(" << margin + panels * step << ' ' << margin << ")'>\n";
  write_legend(out, panel);
  out << "</g>\n</svg>\n";
}

} // namespace repro_minify::bench
