#include "tasks/compiler.h"

#include "core/digest.h"
#include "core/files.h"
#include "core/json.h"
#include "core/no_answer.h"
#include "core/programs.h"
#include "core/text.h"
#include "tasks/sandbox.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {

namespace {

std::string first_line_of(const std::vector<std::string> &command) {
  const std::string said = run_command(command, std::chrono::seconds(10)).output_tail;
  return said.substr(0, std::min<size_t>(said.find('\n'), 200));
}

struct CachedFile {
  std::string name;
  timespec used;
  uintmax_t bytes;
};

bool is_older(const timespec &left, const timespec &right) {
  return left.tv_sec != right.tv_sec ? left.tv_sec < right.tv_sec : left.tv_nsec < right.tv_nsec;
}

/// HASH.so, .o, .cubin or .ptx; on its way there, with a dot and letters behind it. No other file is ours to remove.
bool is_name_of_ours(const std::string &name) {
  static const std::regex names(R"([0-9a-f]{16,64}\.(so|o|cubin|ptx)(\.[A-Za-z0-9]{6}(\.(cpp|txt|made))?)?)");
  return std::regex_match(name, names);
}

std::vector<CachedFile> files_in(int folder) {
  std::vector<CachedFile> files;
  DIR *entries = fdopendir(dup(folder));
  if (!entries)
    return files;
  while (const dirent *entry = readdir(entries)) {
    struct stat status {};
    const std::string name = entry->d_name;
    if (is_name_of_ours(name) && fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode))
      files.push_back({name, status.st_mtim, static_cast<uintmax_t>(status.st_size)});
  }
  closedir(entries);
  return files;
}

/// Under its final name a file has one dot, HASH.so; HASH.so.XXXXXX.cpp is on its way there, for less than an hour.
bool is_left_over(const CachedFile &file) {
  return std::count(file.name.begin(), file.name.end(), '.') > 1 && std::time(nullptr) - file.used.tv_sec > 3600;
}

} // namespace

std::string find_compiler() {
  const char *chosen = std::getenv("CXX");
  if (chosen && *chosen && !find_program(chosen).empty())
    return chosen;
  for (const char *name : {"c++", "g++", "clang++"})
    if (!find_program(name).empty())
      return name;
  return "";
}

std::string find_quick_compiler() {
  constexpr int oldest = 14; // that was tried with LibTorch's headers
  const char *name = "clang++", *chosen = std::getenv("CXX");
  if ((chosen && *chosen) || find_program(name).empty())
    return "";
  std::smatch version;
  const std::string said = first_line_of({name, "--version"});
  return std::regex_search(said, version, std::regex("clang version ([0-9]{1,4})")) && std::stoi(version[1]) >= oldest
             ? name
             : "";
}

std::string compiler_version() {
  const std::string compiler = find_compiler();
  return compiler.empty() ? "" : compiler + ": " + first_line_of({compiler, "--version"});
}

std::vector<std::string> compile_command_of(const std::filesystem::path &build) {
  try {
    const auto entries = json::parse(read_file(build / "compile_commands.json"));
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

fs::path kernel_cache_folder() {
  if (const fs::path folder = kept_folder("kernels"); !folder.empty())
    return folder;
  try {
    static const TemporaryFolder of_this_run; // a new name that cannot have been taken before
    return of_this_run.path();
  } catch (const std::system_error &error) {
    throw NoAnswer(std::string("no folder for kernels can be made: ") + error.what());
  }
}

bool is_kept(const fs::path &file) {
  struct stat status {};
  const bool kept = lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                    (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (kept)
    utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return kept;
}

void tidy_kernel_cache(uintmax_t most_bytes) noexcept {
  try {
    const int folder = open(kernel_cache_folder().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    std::vector<CachedFile> files = files_in(folder);
    std::sort(files.begin(), files.end(),
              [](const CachedFile &left, const CachedFile &right) { return is_older(right.used, left.used); });
    uintmax_t bytes = 0;
    for (const auto &file : files) {
      bytes += file.bytes;
      if (bytes > most_bytes || is_left_over(file))
        unlinkat(folder, file.name.c_str(), 0); // relative to the folder that was checked
    }
    close(folder);
  } catch (const std::exception &) {
    return;
  }
}

std::string kernel_hash(const std::string &text) {
  return digest_of(text);
}

} // namespace repro_minify
