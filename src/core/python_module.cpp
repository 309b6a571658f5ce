#include "core/python_module.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

bool is_identifier(std::string_view word) {
  const auto is_of_a_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
         std::all_of(word.begin(), word.end(), is_of_a_name);
}

} // namespace

bool is_python_file(const std::string &module) {
  return fs::path(module).extension() == ".py";
}

std::string importable(const std::string &module) {
  return is_python_file(module) ? fs::absolute(module).string() : module;
}

std::string no_module_because(const std::string &module) {
  if (is_python_file(module)) {
    const std::string name = fs::path(module).stem().string();
    std::error_code unknown;
    if (!is_identifier(name) || name == "repro")
      return "'" + name + "' can be no name of a module beside repro.py";
    return fs::is_regular_file(module, unknown) ? "" : module + ": no such file";
  }
  for (size_t begin = 0; begin <= module.size();) {
    const size_t end = std::min(module.find('.', begin), module.size());
    if (!is_identifier(std::string_view(module).substr(begin, end - begin)))
      return "'" + module + "' is neither the name of a module nor the path of a FILE.py";
    begin = end + 1;
  }
  return "";
}

} // namespace repro_minify
