#include "app/options.h"
#include "backends/registry.h"
#include "repro_minify/backend_parts.h"
#include "support/text_table.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace repro_minify {
namespace {

struct Row {
  std::string name, needs, unusable_because, summary;
  bool is_pattern = false; ///< what it stands for is the user's, and nothing is known of it
};

std::vector<Row> rows_of(const BackendOptions &options) {
  std::vector<Row> rows;
  for (const auto &listed : list_backends()) {
    const auto backend = make_backend(listed.name, options);
    rows.push_back({listed.name, needs_of(*backend), unusable_because(*backend), listed.summary});
  }
  rows.push_back({plugin_row().name, "the library", "", plugin_row().summary, true});
  rows.push_back({command_row().name, "the program", "", command_row().summary, true});
  return rows;
}

void print_json(const std::vector<Row> &rows) {
  auto list = nlohmann::json::array();
  for (const auto &row : rows) {
    nlohmann::json usable = row.unusable_because.empty();
    if (row.is_pattern)
      usable = nullptr;
    list.push_back({{"name", row.name},
                    {"needs", row.needs},
                    {"usable", usable},
                    {"unusable_because", row.unusable_because},
                    {"summary", row.summary}});
  }
  std::cout << list.dump(2) << '\n';
}

} // namespace

int backends_command(const Options &options) {
  const auto rows = rows_of(options.backend_options);
  if (options.json) {
    print_json(rows);
    return 0;
  }
  std::vector<std::vector<std::string>> table = {{"backend", "needs", "usable here", "what it is"}};
  for (const auto &row : rows)
    table.push_back({row.name, row.needs.empty() ? "-" : row.needs,
                     row.is_pattern                 ? "-"
                     : row.unusable_because.empty() ? "yes"
                                                    : "no: " + row.unusable_because,
                     row.summary});
  std::cout << table_text(table);
  std::cout << "\nSeveral passes in a row: pass:constant-propagation,peephole\n"
               "Several backends: --backend freeze,jit reduces against freeze, and says whether jit fails too\n";
  return 0;
}

} // namespace repro_minify
