#include "emit/atomic_file.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace repro_minify {

void write_atomically(const std::string &path, std::string_view contents) {
  const std::string beside = path + ".partial";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    file.close();
    if (!file)
      throw std::runtime_error(path + ": cannot be written (is the disk full?)");
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0)
    throw std::runtime_error(path + ": cannot be written");
}

} // namespace repro_minify
