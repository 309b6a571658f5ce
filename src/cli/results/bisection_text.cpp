#include "cli/results/bisection_text.h"

#include "core/text_table.h"

#include <vector>

namespace repro_minify {

std::string bisection_text(const Bisection &bisection) {
  std::vector<std::vector<std::string>> rows = {
      {"what ran", "of " + std::to_string(bisection.steps.size()), "", "what came of it"}};
  for (const auto &check : bisection.checks)
    rows.push_back({clean(check.what), check.steps ? std::to_string(*check.steps) : "-",
                    check.fails ? "wrong" : "right", check.message.empty() ? "-" : clean(check.message)});
  return table_text(rows) + '\n' + clean(bisection.message) + '\n' +
         (bisection.note.empty() ? "" : clean(bisection.note) + '\n');
}

} // namespace repro_minify
