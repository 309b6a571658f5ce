#include "app/options.h"

#include <algorithm>
#include <iostream>

namespace repro_minify {

int backends_command() {
  const auto rows = list_backends();
  size_t width = 0;
  for (const auto &row : rows)
    width = std::max(width, row.name.size());
  for (const auto &row : rows)
    std::cout << row.name << std::string(width + 2 - row.name.size(), ' ') << row.summary << '\n';
  std::cout << "\nSeveral passes in a row: pass:constant-propagation,peephole\n";
  return 0;
}

} // namespace repro_minify
