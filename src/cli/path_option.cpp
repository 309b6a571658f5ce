#include "cli/path_option.h"

#include "core/python_module.h"

namespace repro_minify {

CLI::Validator some_path() {
  return {[](std::string &text) {
            return text.empty() ? "'' names no file or folder; give one, or leave the option out" : std::string();
          },
          ""};
}

CLI::Validator some_module() {
  return {[](std::string &text) { return no_module_because(text); }, ""};
}

} // namespace repro_minify
