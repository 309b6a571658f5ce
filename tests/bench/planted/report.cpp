#include "bench/planted/report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>
#include <utility>

namespace repro_minify::bench {
namespace {

std::string cell(const Measurement &measurement) {
  char text[64];
  if (measurement.gave_up)
    std::snprintf(text, sizeof text, ">%.0f", measurement.queries);
  else if (measurement.left > measurement.needed)
    std::snprintf(text, sizeof text, "%.1f [%.0f]", measurement.queries, measurement.left);
  else
    std::snprintf(text, sizeof text, "%.1f", measurement.queries);
  return text;
}

void print_line(const Measurement *begin, const Measurement *end) {
  std::printf("%-22s", begin->name.c_str());
  if (begin->bound > 0)
    std::printf(" %7.1f %7.1f", begin->bound, 1.5 * begin->bound + 2 * begin->needed + 8);
  else
    std::printf(" %7s %7s", "-", "-");
  for (; begin != end; ++begin)
    std::printf(" %13s", cell(*begin).c_str());
  std::printf("\n");
}

std::ofstream open_for_writing(const std::string &path) {
  std::ofstream file(path);
  if (!file)
    throw std::runtime_error("cannot write " + path);
  return file;
}

nlohmann::json as_json(const Measurement &measurement) {
  nlohmann::json row{{"name", measurement.name},     {"tool", measurement.tool}, {"nodes", measurement.nodes},
                     {"needed", measurement.needed}, {"left", measurement.left}, {"queries", measurement.queries},
                     {"work", measurement.work},     {"wall", measurement.wall}, {"finished", !measurement.gave_up}};
  row["bound"] = measurement.bound > 0 ? nlohmann::json(measurement.bound) : nlohmann::json();
  return row;
}

nlohmann::json rows_in(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return nlohmann::json::array();
  nlohmann::json rows = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!rows.is_array())
    throw std::runtime_error(path + " is there, but is not an array of rows");
  return rows;
}

} // namespace

void print_table(const std::string &title, const std::vector<Measurement> &measurements) {
  std::printf("\n%s\n%-22s %7s %7s", title.c_str(), "planted", "bound", "limit");
  const auto same_row = [&](std::size_t i, std::size_t j) { return measurements[i].name == measurements[j].name; };
  for (std::size_t i = 0; i < measurements.size() && same_row(0, i); ++i)
    std::printf(" %13s", measurements[i].tool.c_str());
  std::printf("\n");
  for (std::size_t begin = 0, end = 0; begin < measurements.size(); begin = end) {
    while (end < measurements.size() && same_row(begin, end))
      ++end;
    print_line(&measurements[begin], &measurements[begin] + (end - begin));
  }
}

void append_json(const std::string &path, const std::vector<Measurement> &measurements) {
  std::set<std::pair<std::string, std::string>> measured;
  for (const Measurement &measurement : measurements)
    measured.emplace(measurement.name, measurement.tool);
  nlohmann::json rows = nlohmann::json::array();
  for (const nlohmann::json &row : rows_in(path))
    if (!measured.contains({row.value("name", ""), row.value("tool", "")}))
      rows.push_back(row);
  for (const Measurement &measurement : measurements)
    rows.push_back(as_json(measurement));
  open_for_writing(path) << rows.dump(1) << '\n';
}

void write_csv(const std::string &path, const std::vector<Measurement> &measurements) {
  std::ofstream file = open_for_writing(path);
  file << "name,tool,nodes,needed,left,queries,work,wall,bound,finished\n";
  for (const Measurement &row : measurements)
    file << '"' << row.name << "\",\"" << row.tool << "\"," << row.nodes << ',' << row.needed << ',' << row.left << ','
         << row.queries << ',' << row.work << ',' << row.wall << ',' << row.bound << ',' << !row.gave_up << '\n';
}

} // namespace repro_minify::bench
