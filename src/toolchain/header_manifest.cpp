#include "toolchain/header_manifest.h"

#include "support/read_file.h"
#include "support/split_words.h"

#include <cstddef>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

std::string text_of(const timespec &time) {
  return std::to_string(time.tv_sec) + '.' + std::to_string(time.tv_nsec);
}

/// It does not survive being written again, by whomever: the time of change is the kernel's.
std::string mark_of_made(const fs::path &file) {
  struct stat status {};
  if (lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return "";
  return std::to_string(status.st_size) + ':' + std::to_string(status.st_ino) + ':' + text_of(status.st_ctim);
}

bool is_ours_alone(const fs::path &path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && !S_ISLNK(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// "target: file file \" and so on, as for make.
std::set<std::string> files_of(const fs::path &dependencies) {
  std::string text = read_file(dependencies);
  for (size_t at = 0; (at = text.find("\\\n", at)) != std::string::npos;)
    text.replace(at, 2, " ");
  const size_t begin = text.find(": ");
  if (begin == std::string::npos)
    return {};
  const auto words = split_words(text.substr(begin + 2));
  return {words.begin(), words.end()};
}

} // namespace

fs::path manifest_in(const fs::path &folder) {
  return folder / "kept";
}

std::string mark_of_file(const fs::path &file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 ? std::to_string(status.st_size) + ':' + text_of(status.st_mtim) : "";
}

bool write_manifest(const fs::path &folder, const std::string &made, const fs::path &dependencies) {
  std::ofstream file(manifest_in(folder));
  file << mark_of_made(folder / made) << '\n';
  size_t count = 0;
  for (const auto &name : files_of(dependencies)) {
    if (name == "/dev/null")
      continue; // the source that includes it
    const std::string mark = mark_of_file(name);
    if (mark.empty())
      return false;
    file << mark << ' ' << name << '\n';
    ++count;
  }
  file.close();
  return file.good() && count > 0;
}

bool agrees_with_manifest(const fs::path &folder, const std::string &made) {
  const fs::path manifest = manifest_in(folder);
  for (const fs::path &path : {folder, manifest, folder / made})
    if (!is_ours_alone(path))
      return false;
  std::istringstream lines(read_file(manifest));
  std::string line;
  if (!std::getline(lines, line) || line.empty() || line != mark_of_made(folder / made))
    return false;
  size_t count = 0;
  for (; std::getline(lines, line); ++count) {
    const size_t blank = line.find(' ');
    if (blank == std::string::npos || mark_of_file(line.substr(blank + 1)) != line.substr(0, blank))
      return false;
  }
  return count > 0;
}

} // namespace repro_minify
