#include "core/read_file.h"

#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>

namespace repro_minify {

std::string read_file(const std::filesystem::path &path) {
  try {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  } catch (const std::ios_base::failure &) { // of a folder, which can be opened
    return {};
  }
}

} // namespace repro_minify
