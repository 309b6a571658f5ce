// A file that is one: no link is followed to it, and no pipe waited for. Anybody may have put something else in its
// place.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace repro_minify {

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
