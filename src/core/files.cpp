#include "core/files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {

std::string read_file(const std::filesystem::path &path) {
  try {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  } catch (const std::ios_base::failure &) { // a folder can be opened, but not read
    return {};
  }
}

std::string last_line(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      last = line;
  return last;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string mark_of_file(const std::filesystem::path &file) {
  struct stat status {};
  return stat(file.c_str(), &status) != 0
             ? ""
             : std::to_string(status.st_size) + ':' + std::to_string(status.st_mtim.tv_sec) + '.' +
                   std::to_string(status.st_mtim.tv_nsec);
}

bool is_of_today(const std::filesystem::path &file) {
  std::error_code none;
  const auto written = std::filesystem::last_write_time(file, none);
  return !none && std::filesystem::file_time_type::clock::now() - written < std::chrono::hours(24);
}

namespace {

/// True for a folder whose entries only this user and root can replace; one with the sticky bit counts, as /tmp does.
bool is_ours_alone(const struct stat &status) {
  const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return S_ISDIR(status.st_mode) && (status.st_uid == geteuid() || status.st_uid == 0) &&
         (!others_write || (status.st_mode & S_ISVTX) != 0);
}

/// True if only this user and root can change the folder, and each that it lies in.
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

/// Makes a folder that only this user can look into, whatever the umask. Returns true if it is one now, whether it was
/// made or was there already.
bool make_private(const fs::path &folder) {
  mkdir(folder.c_str(), 0700);
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         ((status.st_mode & 0777) == 0700 || chmod(folder.c_str(), 0700) == 0);
}

constexpr std::string_view prefix = "repro-minify.";
constexpr std::string_view not_locked_yet = "repro-minify-new.";
constexpr size_t random_letters = 6;

[[noreturn]] void fail() {
  throw std::system_error(errno, std::generic_category(), "no temporary folder can be made (TMPDIR says where)");
}

bool is_ours(const std::string &name) {
  return name.size() == prefix.size() + random_letters && name.starts_with(prefix) &&
         std::all_of(name.end() - random_letters, name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

int open_folder(const fs::path &path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// True for a folder of this user that no process locks: the one that made it was killed.
bool is_left_over(const fs::path &path) {
  const int folder = open_folder(path);
  if (folder < 0)
    return false;
  struct stat status {};
  const bool free = fstat(folder, &status) == 0 && status.st_uid == geteuid() && flock(folder, LOCK_EX | LOCK_NB) == 0;
  close(folder);
  return free;
}

/// Lets the owner of the folder and of those below it look into them and empty them, whatever made them.
void open_folders_below(const fs::path &folder) {
  chmod(folder.c_str(), S_IRWXU);
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (fs::is_directory(entry.symlink_status(error)))
      open_folders_below(entry.path());
}

void remove_folder(const fs::path &folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error)
    return;
  open_folders_below(folder);
  fs::remove_all(folder, error);
}

constexpr int carefully = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC; // opening a pipe would wait for its other end
constexpr const char *no_file = "is a link, or something else that is no plain file of its own";

/// True for a regular file with one name: a second name of another user's file is as good as a link to it.
bool is_plain(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1;
}

std::runtime_error cannot_write() {
  if (errno == ELOOP || errno == ENXIO)
    return std::runtime_error(no_file);
  return std::runtime_error(std::string("cannot be written: ") + std::strerror(errno));
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

void remove_left_over_folders(const fs::path &parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error))
    if (is_ours(entry->path().filename().string()) && is_left_over(entry->path()))
      remove_folder(entry->path());
}

TemporaryFolder::TemporaryFolder() : owner_(getpid()) {
  const fs::path parent = fs::temp_directory_path();
  [[maybe_unused]] static const bool tidied = (remove_left_over_folders(parent), true);
  std::string made = (parent / (std::string(not_locked_yet) + "XXXXXX")).string();
  if (!mkdtemp(made.data()))
    fail();
  lock_ = open_folder(made);
  path_ = parent / (std::string(prefix) + made.substr(made.size() - random_letters));
  // It gets the name that other processes tidy up once it is locked.
  if (lock_ < 0 || flock(lock_, LOCK_EX) != 0 ||
      renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    const int problem = errno;
    rmdir(made.c_str());
    if (lock_ >= 0)
      close(lock_);
    errno = problem;
    fail();
  }
}

TemporaryFolder::~TemporaryFolder() {
  if (getpid() == owner_)
    remove_folder(path_);
  close(lock_);
}

PlainFile PlainFile::at(const std::string &path) {
  PlainFile file(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | carefully, 0666));
  if (file.descriptor_ < 0)
    throw cannot_write();
  if (!is_plain(file.descriptor_))
    throw std::runtime_error(no_file);
  return file;
}

PlainFile PlainFile::in_place_of(const std::string &path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    throw cannot_write();
  PlainFile file(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | carefully, 0666));
  if (file.descriptor_ < 0)
    throw cannot_write();
  return file;
}

std::optional<PlainFile> PlainFile::to_read(const std::string &path) {
  PlainFile file(open(path.c_str(), O_RDONLY | carefully));
  if (file.descriptor_ < 0 || !is_plain(file.descriptor_))
    return std::nullopt;
  return file;
}

PlainFile::PlainFile(PlainFile &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

PlainFile::~PlainFile() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

std::uint64_t PlainFile::size() const {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::string PlainFile::read(std::uint64_t from, std::size_t most) const {
  std::string bytes(most, '\0');
  std::size_t got = 0;
  while (got < most) {
    const ssize_t some = pread(descriptor_, bytes.data() + got, most - got, static_cast<off_t>(from + got));
    if (some < 0 && errno == EINTR)
      continue;
    if (some <= 0)
      break;
    got += static_cast<std::size_t>(some);
  }
  bytes.resize(got);
  return bytes;
}

bool PlainFile::cut(std::uint64_t size) const {
  return ftruncate(descriptor_, static_cast<off_t>(size)) == 0;
}

} // namespace repro_minify
