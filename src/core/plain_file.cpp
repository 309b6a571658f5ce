#include "core/plain_file.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

// Opening a pipe would wait for its other end.
constexpr int carefully = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
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

bool PlainFile::append(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

} // namespace repro_minify
