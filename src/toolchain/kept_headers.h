// A header in precompiled form, kept between runs: a build folder for each compiler, set of flags and LibTorch. Ninja
// makes it and knows when it is stale; a lock on the folder says who is at it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// Returns the folder of all of them. It is apart from the kernels, which checks of a model may write: what lies here
/// is read by a compiler whose output runs unchecked. Empty where there is no safe place, or
/// REPRO_MINIFY_PRECOMPILED_HEADERS=off.
std::filesystem::path kept_headers_folder();
/// True if any is kept, whatever it is of.
bool keeps_any_header();

/// The project that is compiled, and the command that compiles it, stay what they are. GCC takes HEADER.gch of a folder
/// that CPATH names for the first #include <HEADER> of a source wherever its flags agree (it checks that itself) and
/// reads the header as ever where they do not. Clang takes HEADER.pch from words that CCC_OVERRIDE_OPTIONS adds; unlike
/// GCC's it holds the instances of the headers' templates, which then need not be made again.
class KeptHeader {
public:
  /// `compile_command` as compile_command_of() has it; where it is empty, or `header` is, nothing is kept.
  KeptHeader(std::string header, std::vector<std::string> compile_command);

  /// True if it is there, stale or not.
  bool is_there() const;
  /// Makes it where it is missing or stale, in 10 to 20 s, and returns the variable of the environment by which the
  /// compiler finds it. Nothing where it cannot be made, or was left out. The lock on it stays with this process and
  /// what it becomes: call it in the one that is going to compile. Waits for another process that makes it.
  std::optional<std::pair<std::string, std::string>> make() const;
  /// Not to be used for a day: what can be built without it could not be built with it.
  void leave_out() const;

private:
  bool is_up_to_date() const;
  bool write_build_files() const;
  std::pair<std::string, std::string> variable() const;
  /// Apart from where the compiler runs: there it would find its own earlier work for the header.
  std::filesystem::path includes() const { return folder_ / "include"; }
  std::filesystem::path file() const { return includes() / (header_ + (is_clang_ ? ".pch" : ".gch")); }

  std::string header_;
  std::vector<std::string> command_;
  bool is_clang_ = false;
  std::filesystem::path folder_; ///< empty: nothing is kept
};

} // namespace repro_minify
