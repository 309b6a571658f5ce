#include "support/read_file.h"

#include <fstream>
#include <iterator>

namespace repro_minify {

std::string read_file(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace repro_minify
