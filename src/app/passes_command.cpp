#include "app/options.h"
#include "app/table.h"
#include "repro_minify/reducer.h"

namespace repro_minify {

int passes_command() {
  std::vector<std::vector<std::string>> rows = {{"pass", "what it does"}};
  for (const auto &pass : list_reduction_passes())
    rows.push_back({pass.name, pass.summary});
  print_table(rows);
  return ReducedAndVerified;
}

} // namespace repro_minify
