// A header that is read once, for all that begins with it and is compiled in the same way.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// The project that is compiled, and the command that compiles it, stay what they are. GCC takes HEADER.gch of a folder
/// that CPATH names for the first #include <HEADER> of a source wherever its flags agree (it checks that itself) and
/// reads the header as ever where they do not. Clang takes HEADER.pch from words that CCC_OVERRIDE_OPTIONS adds; unlike
/// GCC's it holds the instances of the headers' templates, which then need not be made again.
class PrecompiledHeader {
public:
  /// `compile_command` as compile_command_of() has it. Of nothing, or compiled in no known way, there is none.
  PrecompiledHeader(std::string header, std::vector<std::string> compile_command);

  /// Returns the folder it lies in, and marks it as used. Empty if none is kept, or if it or any file that it was made
  /// of has changed since (by size and time), or another user could have written it (by owner and mode).
  std::filesystem::path folder() const;
  /// Returns the name and value of the variable that lets the compiler find it, with all that it holds already. Nothing
  /// if there is no folder(), or this compiler cannot be told.
  std::optional<std::pair<std::string, std::string>> in_environment() const;
  /// True if it is worth trying to make it: none is kept, and it has not failed today.
  bool is_wanted() const;
  /// Makes it, in some 20 s; whether it is there now. One that another process is making is left to that. It gets its
  /// name when it is whole. `most_bytes`: see tidy_header_cache().
  bool make(std::uintmax_t most_bytes = std::uintmax_t{2} << 30) const;
  /// Removes it, for a day: what can be built without it could not be built with it.
  void discard() const;

private:
  bool make_in(const std::filesystem::path &folder) const;
  std::string key() const;
  std::string file_name() const { return header_ + (is_clang_ ? ".pch" : ".gch"); }

  std::string header_;
  std::vector<std::string> command_;
  bool is_clang_ = false;
  std::filesystem::path kept_; ///< HASH; empty: there is none
};

} // namespace repro_minify
