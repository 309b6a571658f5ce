#include "codegen/cache.h"

#include "support/digest.h"
#include "support/no_answer.h"
#include "support/temporary_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <regex>
#include <system_error>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {

namespace fs = std::filesystem;

namespace {

/// Whether nobody but this user and root can change what lies under that name: true of a folder in which all may make
/// files, but nobody may rename those of others.
bool is_ours_alone(const struct stat &status) {
  const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return S_ISDIR(status.st_mode) && (status.st_uid == geteuid() || status.st_uid == 0) &&
         (!others_write || (status.st_mode & S_ISVTX) != 0);
}

/// From the root down: a folder is as safe as those it lies in.
bool is_safe(const fs::path &folder) {
  std::error_code unknown;
  fs::path path;
  for (const auto &part : fs::canonical(folder, unknown)) {
    path /= part;
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !is_ours_alone(status))
      return false;
  }
  return !unknown;
}

/// A folder that only this user can look into, whatever the umask; one that is there already has to be one.
bool make_private(const fs::path &folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return false;
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         ((status.st_mode & 0777) == 0700 || chmod(folder.c_str(), 0700) == 0);
}

/// Empty where there is none that is safe.
fs::path folder_that_is_kept() {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  fs::path base;
  if (cache && *cache == '/')
    base = cache;
  else if (home && *home == '/')
    base = fs::path(home) / ".cache";
  else
    return "";
  std::error_code ignored;
  fs::create_directories(base, ignored);
  const fs::path ours = base / "repro-minify", folder = ours / "kernels";
  return is_safe(base) && make_private(ours) && make_private(folder) ? folder : fs::path();
}

} // namespace

fs::path kernel_cache_folder() {
  if (const fs::path folder = folder_that_is_kept(); !folder.empty())
    return folder;
  try {
    static const TemporaryFolder of_this_run; // a name that nobody can have taken before
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

namespace {

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
  static const std::regex names("[0-9a-f]{16,64}\\.(so|o|cubin|ptx)(\\.[A-Za-z0-9]{6}(\\.(cpp|txt|made))?)?");
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
