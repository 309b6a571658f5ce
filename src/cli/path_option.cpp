#include "cli/path_option.h"

namespace repro_minify {

CLI::Validator some_path() {
  return {[](std::string &text) {
            return text.empty() ? "'' names no file or folder; give one, or leave the option out" : std::string();
          },
          ""};
}

} // namespace repro_minify
