#include "repro/results_folder.h"

#include "core/files.h"
#include "repro_minify/program.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

namespace repro_minify {
namespace {

UserError cannot_write(const std::string &path) {
  return UserError(path + ": cannot be written: " + std::strerror(errno));
}

/// Not every file system can promise that it is on the disk; those that cannot do no harm.
bool is_on_disk(int file) {
  return ::fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

/// The folder of a file, held open: what is made and renamed in it is, whatever its path leads to meanwhile.
class HeldFolder {
public:
  explicit HeldFolder(const std::string &file) {
    const auto folder = std::filesystem::path(file).parent_path();
    folder_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0)
      throw cannot_write(file);
  }
  ~HeldFolder() { ::close(folder_); }
  HeldFolder(const HeldFolder &) = delete;
  HeldFolder &operator=(const HeldFolder &) = delete;

  int descriptor() const { return folder_; }
  void sync() const { ::fsync(folder_); }

private:
  int folder_ = -1;
};

/// A file being written: beside its target, under a random name that is not taken. Removed unless it is moved into
/// place.
class FileInTheMaking {
public:
  FileInTheMaking(const HeldFolder &folder, const std::string &path, std::string_view contents, bool durable)
      : folder_(folder), path_(path), name_(std::filesystem::path(path).filename().string()) {
    const int file = open_new();
    const bool written = write_all(file, contents) && (!durable || is_on_disk(file));
    const int problem = errno;
    const bool closed = ::close(file) == 0;
    if (written && closed)
      return;
    if (!written)
      errno = problem;
    give_up();
  }
  ~FileInTheMaking() {
    if (!there_)
      ::unlinkat(folder_.descriptor(), made_.c_str(), 0);
  }
  FileInTheMaking(const FileInTheMaking &) = delete;
  FileInTheMaking &operator=(const FileInTheMaking &) = delete;

  /// A link at the target is replaced, and not followed.
  void move_into_place() {
    if (::renameat(folder_.descriptor(), made_.c_str(), folder_.descriptor(), name_.c_str()) != 0)
      throw cannot_write(path_);
    there_ = true;
  }
  void remove_old() const {
    if (::unlinkat(folder_.descriptor(), name_.c_str(), 0) != 0 && errno != ENOENT)
      throw cannot_write(path_);
  }

private:
  int open_new() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      std::uint64_t random = 0;
      if (::getrandom(&random, sizeof random, 0) != sizeof random)
        break;
      made_ = name_ + "." + std::to_string(random) + ".partial";
      const int file =
          ::openat(folder_.descriptor(), made_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
      if (file >= 0)
        return file;
      if (errno != EEXIST)
        break;
    }
    there_ = true; // it is not there, and so nothing is to be removed
    throw cannot_write(path_);
  }
  [[noreturn]] void give_up() {
    const int problem = errno;
    ::unlinkat(folder_.descriptor(), made_.c_str(), 0);
    errno = problem;
    throw cannot_write(path_);
  }

  const HeldFolder &folder_;
  const std::string path_, name_;
  std::string made_;
  bool there_ = false;
};

} // namespace

void write_atomically(const std::string &path, std::string_view contents) {
  const HeldFolder folder(path);
  FileInTheMaking file(folder, path, contents, /*durable=*/false);
  file.move_into_place();
}

void write_pair(const PairOfFiles &pair, std::string_view first, std::string_view second, bool durable,
                const BeforeStep &before) {
  const auto step = [&](const char *name) {
    if (before)
      before(name);
  };
  const HeldFolder folder(pair.first);
  step("write the first beside it");
  FileInTheMaking new_first(folder, pair.first, first, durable);
  step("write the second beside it");
  FileInTheMaking new_second(folder, pair.second, second, durable);
  step("remove the old second");
  new_second.remove_old();
  if (durable)
    folder.sync();
  step("move the first into place");
  new_first.move_into_place();
  step("move the second into place");
  new_second.move_into_place();
  step("make sure of the names");
  if (durable)
    folder.sync();
}

} // namespace repro_minify
