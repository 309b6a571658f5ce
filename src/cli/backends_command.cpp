// The lists that the command line prints: backends, and passes of the reduction.
#include "backends/backend_registry.h"
#include "cli/options.h"
#include "core/json.h"
#include "core/text.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/reducer.h"

#include <iostream>

namespace repro_minify {
namespace {

struct ListedBackend {
  std::string name, needs, unusable_because, summary;
  bool is_pattern = false; ///< the name stands for something of the user's, and nothing is known of it
};

std::vector<ListedBackend> rows_of(const BackendOptions &options) {
  std::vector<ListedBackend> rows;
  for (const auto &listed : list_backends()) {
    const auto backend = make_backend(listed.name, options);
    rows.push_back({listed.name, needs_of(*backend), unusable_because(*backend), listed.summary});
  }
  const auto add = [&](const std::string &kind, const std::vector<std::string> &names) {
    for (const auto &name : names) {
      const auto backend = make_backend(kind + name, options);
      rows.push_back({backend->name(), needs_of(*backend), unusable_because(*backend), backend->summary()});
    }
  };
  add("torch-compile:", dynamo_backends(options.python));
  rows.push_back({"torch-compile:MODULE:FUNCTION", "the function", "", torch_compile_row().summary, true});
  add("export:", recipe_names());
  rows.push_back({"export:FILE.py", "a recipe", "", export_row().summary, true});
  rows.push_back({plugin_row().name, "the library", "", plugin_row().summary, true});
  rows.push_back({command_row().name, "the program", "", command_row().summary, true});
  return rows;
}

/// The rows for scripts.
std::string backends_json(const BackendOptions &options) {
  auto list = json::array();
  for (const auto &row : rows_of(options)) {
    json usable = row.unusable_because.empty();
    if (row.is_pattern)
      usable = nullptr;
    list.push_back({{"name", row.name},
                    {"needs", row.needs},
                    {"usable", usable},
                    {"unusable_because", row.unusable_because},
                    {"summary", row.summary}});
  }
  return list.dump(2, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace) + '\n';
}

/// Returns the rows as a table. Starts a Python with torch, among others, to find out what is usable.
std::string backends_text(const BackendOptions &options) {
  std::vector<std::vector<std::string>> table = {{"backend", "needs", "usable here", "what it is"}};
  for (const auto &row : rows_of(options))
    table.push_back({row.name, row.needs.empty() ? "-" : row.needs,
                     row.is_pattern                 ? "-"
                     : row.unusable_because.empty() ? "yes"
                                                    : "no: " + clean(row.unusable_because),
                     row.summary});
  return table_text(table) +
         "\nSeveral passes in a row: pass:constant-propagation,peephole\n"
         "Several backends: --backend freeze,jit reduces against freeze, and says whether jit fails too\n";
}

} // namespace

int backends_command(const Options &options) {
  std::cout << (options.json ? backends_json(options.backend_options) : backends_text(options.backend_options));
  return 0;
}

int passes_command() {
  std::vector<std::vector<std::string>> rows = {{"pass", "what it does"}};
  for (const auto &pass : list_reduction_passes())
    rows.push_back({pass.name, pass.summary});
  std::cout << table_text(rows);
  return 0;
}

} // namespace repro_minify
