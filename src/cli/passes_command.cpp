#include "cli/options.h"
#include "core/text_table.h"
#include "repro_minify/reducer.h"

#include <iostream>

namespace repro_minify {

int passes_command() {
  std::vector<std::vector<std::string>> rows = {{"pass", "what it does"}};
  for (const auto &pass : list_reduction_passes())
    rows.push_back({pass.name, pass.summary});
  std::cout << table_text(rows);
  return ReducedAndVerified;
}

} // namespace repro_minify
