#include "cli/results/reduction_text.h"

#include "core/number_text.h"
#include "core/text_table.h"

#include <vector>

namespace repro_minify {

std::string passes_table(const Reduction &reduction) {
  std::vector<std::vector<std::string>> rows = {
      {"pass", "turns", "tried", "worked", "operators removed", "checks", "seconds"}};
  for (const auto &pass : reduction.passes)
    if (pass.tried > 0)
      rows.push_back({pass.pass, std::to_string(pass.runs), std::to_string(pass.tried), std::to_string(pass.worked),
                      std::to_string(pass.operators_removed), std::to_string(pass.checks), rounded_text(pass.seconds)});
  std::string table = table_text(rows);
  table.pop_back();
  return "what each pass did:\n" + table;
}

std::string phases_table(const ReproFacts &facts) {
  std::vector<std::vector<std::string>> rows = {{"phase", "seconds"}};
  for (const auto &[name, seconds] : facts.phases)
    rows.push_back({name, rounded_text(seconds)});
  return "where the time went:\n" + table_text(rows);
}

} // namespace repro_minify
