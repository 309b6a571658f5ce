// A folder that goes with its object.
#pragma once
#include <filesystem>

namespace repro_minify {

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

} // namespace repro_minify
