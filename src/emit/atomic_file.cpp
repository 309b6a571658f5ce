#include "emit/atomic_file.h"

#include "repro_minify/program.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace repro_minify {
namespace {

UserError cannot_write(const std::string &path) {
  return UserError(path + ": cannot be written: " + std::strerror(errno));
}

/// Beside the target: what it is renamed from.
std::string partial(const std::string &path) {
  return path + ".partial";
}

bool write_all(int file, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    contents.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void write_partial(const std::string &path, std::string_view contents, bool durable) {
  const int file = ::open(partial(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    throw cannot_write(path);
  // Not every file system can promise that it is on the disk; those that cannot do no harm.
  const bool written = write_all(file, contents) && (!durable || ::fsync(file) == 0 || errno != EIO);
  const int problem = errno;
  const bool closed = ::close(file) == 0;
  if (!written)
    errno = problem;
  if (!written || !closed)
    throw cannot_write(path);
}

void move_into_place(const std::string &path) {
  if (std::rename(partial(path).c_str(), path.c_str()) != 0)
    throw cannot_write(path);
}

/// So that the names are on the disk too.
void sync_folder_of(const std::string &path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return;
  ::fsync(file);
  ::close(file);
}

} // namespace

void write_atomically(const std::string &path, std::string_view contents) {
  write_partial(path, contents, /*durable=*/false);
  move_into_place(path);
}

void write_pair(const PairOfFiles &pair, std::string_view first, std::string_view second, bool durable,
                const BeforeStep &before) {
  const auto step = [&](const char *name) {
    if (before)
      before(name);
  };
  step("write the first beside it");
  write_partial(pair.first, first, durable);
  step("write the second beside it");
  write_partial(pair.second, second, durable);
  step("remove the old second");
  if (::unlink(pair.second.c_str()) != 0 && errno != ENOENT)
    throw cannot_write(pair.second);
  if (durable)
    sync_folder_of(pair.second);
  step("move the first into place");
  move_into_place(pair.first);
  step("move the second into place");
  move_into_place(pair.second);
  step("make sure of the names");
  if (durable)
    sync_folder_of(pair.first);
}

} // namespace repro_minify
