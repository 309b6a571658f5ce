#include "program/operator_libraries.h"

#include "program/compute.h"
#include "program/read_inputs.h"
#include "repro_minify/confinement.h"
#include "repro_minify/program.h"

#include <dlfcn.h>

#include <cctype>
#include <filesystem>
#include <string_view>

namespace repro_minify {

void load_operator_libraries(const std::vector<std::string> &paths) {
  for (const auto &path : paths) {
    require_file(path);
    let_children_read(path);
    std::error_code unknown;
    // Never closed: what it has registered points into it. Loaded twice it is the same library.
    if (!dlopen(std::filesystem::absolute(path, unknown).c_str(), RTLD_NOW | RTLD_GLOBAL))
      throw UserError("--load-library " + path + ": cannot be loaded: " + first_sentence(dlerror()));
  }
}

std::vector<std::string> names_of_libraries(const std::vector<std::string> &paths) {
  std::vector<std::string> names;
  for (size_t i = 0; i < paths.size(); ++i)
    names.push_back("operators" + (i == 0 ? std::string() : "-" + std::to_string(i + 1)) + ".so");
  return names;
}

std::string unknown_operator_in(const std::string &message) {
  for (const std::string_view words : {"Unknown builtin op: ", "Unknown operator: "}) {
    const auto at = message.find(words);
    if (at == std::string::npos)
      continue;
    size_t end = at + words.size();
    while (end < message.size() &&
           (std::isalnum(static_cast<unsigned char>(message[end])) || message[end] == '_' || message[end] == ':'))
      ++end;
    std::string name = message.substr(at + words.size(), end - at - words.size());
    while (!name.empty() && name.back() == ':')
      name.pop_back();
    return name;
  }
  return "";
}

} // namespace repro_minify
