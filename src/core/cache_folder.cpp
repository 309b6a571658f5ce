#include "core/cache_folder.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// True if only this user and root can change what lies under that name, as in a folder in which all may make files,
/// but none may rename those of others.
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

/// A folder that only this user can look into, whatever the umask; one that is there already has to be one, and is as
/// good where none could be made now: a child that took another than its parent would leave it behind.
bool make_private(const fs::path &folder) {
  mkdir(folder.c_str(), 0700);
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         ((status.st_mode & 0777) == 0700 || chmod(folder.c_str(), 0700) == 0);
}

} // namespace

fs::path kept_folder(const std::string &name) {
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
  const fs::path ours = base / "repro-minify", folder = ours / name;
  return is_safe(base) && make_private(ours) && make_private(folder) ? folder : fs::path();
}

} // namespace repro_minify
