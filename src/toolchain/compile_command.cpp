#include "toolchain/compile_command.h"

#include "core/read_file.h"
#include "core/split_words.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify {

std::vector<std::string> compile_command_of(const std::filesystem::path &build) {
  try {
    const auto entries = nlohmann::json::parse(read_file(build / "compile_commands.json"));
    if (entries.size() != 1)
      return {};
    const auto source = entries.at(0).at("file").get<std::string>();
    std::vector<std::string> words, all = split_words(entries.at(0).at("command").get<std::string>());
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i] == "-o")
        ++i; // and its file
      else if (all[i] != "-c" && all[i] != source)
        words.push_back(all[i]);
    return words;
  } catch (const std::exception &) { // of another CMake than we know: nothing is made of it
    return {};
  }
}

} // namespace repro_minify
