#include "cli/options.h"
#include "cli/results/backends_text.h"

#include <iostream>

namespace repro_minify {

int backends_command(const Options &options) {
  std::cout << (options.json ? backends_json(options.backend_options) : backends_text(options.backend_options));
  return 0;
}

} // namespace repro_minify
