// Files and folders that lie on the disk: read, watched, and kept for a while.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace repro_minify {

// The whole content of a file.

/// Empty for one that cannot be read.
std::string read_file(const std::filesystem::path &path);

// Tells if a file is still the one that was looked at.

/// Returns size and time of change of a file, behind all links; empty where there is none.
std::string mark_of_file(const std::filesystem::path &file);
/// True if the file exists and was written within a day.
bool is_of_today(const std::filesystem::path &file);

// The place for files that are kept between runs.

/// Returns the folder NAME of ours in the user's cache folder ($XDG_CACHE_HOME or ~/.cache), private, made if it is not
/// there. Empty where another user could change something on the way there, or none can be made.
std::filesystem::path kept_folder(const std::string &name);

// A folder that goes with its object.

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

  const std::filesystem::path &path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path &name) const { return path_ / name; }

private:
  std::filesystem::path path_;
  int lock_ = -1;
  int owner_;
};

/// Removes what killed processes of this user have left in this folder, and nothing else.
void remove_left_over_folders(const std::filesystem::path &parent);

// A file that is one: no link is followed to it, and no pipe waited for. Anybody may have put something else in its
// place.

class PlainFile {
public:
  /// Opens the file as it lies there, and makes it where nothing does. Throws std::runtime_error, with what is wrong,
  /// where something else lies there.
  static PlainFile at(const std::string &path);
  /// A new one in the place of whatever lies there but a folder. Throws std::runtime_error.
  static PlainFile in_place_of(const std::string &path);
  /// Nothing where there is none, or it may not be read.
  static std::optional<PlainFile> to_read(const std::string &path);

  PlainFile(PlainFile &&other) noexcept;
  PlainFile &operator=(PlainFile &&) = delete;
  ~PlainFile();

  std::uint64_t size() const;
  /// At most `most` bytes from there on; fewer at its end, and where it cannot be read.
  std::string read(std::uint64_t from, std::size_t most) const;
  /// Leaves the first bytes. Whether that could be done.
  bool cut(std::uint64_t size) const;
  /// In one write, if the system can. Whether all of it is there.
  bool append(std::string_view bytes) const;

private:
  explicit PlainFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

} // namespace repro_minify
