#include "codegen/cache.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {

namespace fs = std::filesystem;

std::string read_file(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path kernel_cache_folder() {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  fs::path base;
  if (cache && *cache == '/')
    base = cache;
  else if (home && *home == '/')
    base = fs::path(home) / ".cache";
  else
    base = fs::temp_directory_path() / ("repro-minify-" + std::to_string(getuid()));
  fs::path folder = base / "repro-minify" / "kernels";
  std::error_code error;
  fs::create_directories(folder, error);
  struct stat status {};
  if (error || stat(folder.c_str(), &status) != 0 || status.st_uid != getuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH)))
    throw std::runtime_error("no folder for kernels can be made, or others can write to it: " + folder.string());
  return folder;
}

// FNV-1a, twice.
std::string kernel_hash(const std::string &text) {
  std::ostringstream out;
  out << std::hex;
  for (uint64_t state : {0xcbf29ce484222325ULL, 0x9e3779b97f4a7c15ULL}) {
    for (const unsigned char c : text)
      state = (state ^ c) * 0x100000001b3ULL;
    out << state;
  }
  return out.str();
}

} // namespace repro_minify
