// Files and folders that lie on the disk: read, watched, and kept for a while.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace repro_minify {

namespace fs = std::filesystem;

/// Returns the whole content of a file; empty for one that cannot be read.
std::string read_file(const fs::path &path);
/// Returns the last line of a file that is not blank; empty where there is none.
std::string last_line(const fs::path &path);

/// Writes all of it, in one go if the system can. Returns false, with errno, if some of it is missing.
bool write_all(int descriptor, std::string_view bytes);

/// Returns size and time of change of a file, behind all links; empty where there is none.
std::string mark_of_file(const fs::path &file);
/// True if the file exists and was written within a day.
bool is_of_today(const fs::path &file);

/// Returns the folder NAME of ours in the user's cache folder ($XDG_CACHE_HOME or ~/.cache), private, made if it is not
/// there. Empty where another user could change something on the way there, or none can be made.
fs::path kept_folder(const std::string &name);

/// A new folder under the system's temporary folder, removed with this object by the process that made it. Its name is
/// ours: no text from a model or a user's path is in it. It is locked as long as this process or a child of it lives;
/// the first that a process makes removes those that no process locks any more, for a killed process removes nothing.
/// Throws std::system_error when it cannot be made.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const fs::path &path() const { return path_; }
  fs::path operator/(const fs::path &name) const { return path_ / name; }

private:
  fs::path path_;
  int lock_ = -1;
  int owner_;
};

/// Removes what killed processes of this user have left in this folder, and nothing else.
void remove_left_over_folders(const fs::path &parent);

/// An open regular file. No link is followed to it, and no pipe waited for, as another user may have put either in its
/// place.
class PlainFile {
public:
  /// Opens the file, and makes it if it is not there. Throws std::runtime_error, which says what is wrong, where
  /// something else has that name.
  static PlainFile at(const std::string &path);
  /// Makes a new file, in the place of whatever has that name but a folder. Throws std::runtime_error.
  static PlainFile in_place_of(const std::string &path);
  /// Opens the file; nothing if there is none, or it may not be read.
  static std::optional<PlainFile> to_read(const std::string &path);

  PlainFile(PlainFile &&other) noexcept;
  PlainFile &operator=(PlainFile &&) = delete;
  ~PlainFile();

  std::uint64_t size() const;
  /// Returns at most `most` bytes from offset `from`; fewer at the end of the file, and where it cannot be read.
  std::string read(std::uint64_t from, std::size_t most) const;
  /// Cuts the file to its first `size` bytes. Returns false if that failed.
  bool cut(std::uint64_t size) const;
  /// Writes them at the end, with write_all().
  bool append(std::string_view bytes) const { return write_all(descriptor_, bytes); }

private:
  explicit PlainFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

} // namespace repro_minify
