#include "codegen/cache.h"

#include "support/digest.h"
#include "support/no_answer.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

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
    throw NoAnswer("no folder for kernels can be made, or others can write to it: " + folder.string());
  return folder;
}

bool is_kept(const fs::path &file) {
  std::error_code missing, ignored;
  const bool kept = fs::exists(file, missing) && !missing;
  if (kept)
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return kept;
}

namespace {

struct CachedFile {
  fs::path path;
  fs::file_time_type used;
  uintmax_t bytes;
};

std::vector<CachedFile> files_in(const fs::path &folder) {
  std::vector<CachedFile> files;
  for (const auto &entry : fs::directory_iterator(folder)) {
    std::error_code no_time, no_size; // somebody else may tidy too
    const CachedFile file{entry.path(), entry.last_write_time(no_time), entry.file_size(no_size)};
    if (!no_time && !no_size)
      files.push_back(file);
  }
  return files;
}

/// Under its final name a file has one dot, HASH.so; HASH.so.XXXXXX.cpp is on its way there, for less than an hour.
bool is_left_over(const CachedFile &file) {
  const bool on_its_way = file.path.stem().has_extension();
  return on_its_way && fs::file_time_type::clock::now() - file.used > std::chrono::hours(1);
}

} // namespace

void tidy_kernel_cache(uintmax_t most_bytes) noexcept {
  try {
    std::vector<CachedFile> files = files_in(kernel_cache_folder());
    std::sort(files.begin(), files.end(),
              [](const CachedFile &left, const CachedFile &right) { return left.used > right.used; });
    uintmax_t bytes = 0;
    for (const auto &file : files) {
      bytes += file.bytes;
      std::error_code ignored;
      if (bytes > most_bytes || is_left_over(file))
        fs::remove(file.path, ignored);
    }
  } catch (const std::exception &) {
    return;
  }
}

std::string kernel_hash(const std::string &text) {
  return digest_of(text);
}

} // namespace repro_minify
