// A header in precompiled form, kept between runs: a build folder for each compiler, set of flags and LibTorch. Ninja
// makes it and knows when it is stale; a lock on the folder says who is at it.
#pragma once

#include "tasks/sandbox.h"

#include <filesystem>
#include <functional>
#include <memory>
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

// A CMake project with one source, configured and built while other work goes on.

/// The project is built as its user will build it, but that a variable of the environment names the precompiled form of
/// its first header, which is kept for the next.
class ProjectBuild {
public:
  /// `source` has the CMakeLists.txt, `build` is made; `options` are CMake's. `header` as in its #include.
  ProjectBuild(std::string source, std::string build, std::vector<std::string> options, std::string header);

  /// Returns at once. The sources may be others by the time of start(), which has nothing left to do but build.
  void configure();
  /// Returns at once, or when what configure() has begun is through.
  void start(const std::function<bool()> &interrupted = {});
  /// Waits for it, starting it first unless it has been. Exit code 127: there is no CMake. Once interrupted it is
  /// Cancelled.
  JobEnd finish(const std::function<bool()> &interrupted);
  /// After one that failed: the next is built without the precompiled header. False where there was none.
  bool leave_out_precompiled();
  /// True if a precompiled header was there for it.
  bool had_precompiled() const;
  /// After one that went well without it, and not with it: the header is not used for a day.
  void forget_precompiled() const;

private:
  bool is_configured(const std::function<bool()> &interrupted);
  [[noreturn]] void build(bool is_configured) const;
  std::vector<std::string> configuration() const;
  KeptHeader header() const;

  std::string source_, build_;
  std::vector<std::string> options_;
  std::string header_name_;
  bool precompiled_ = true;
  std::unique_ptr<Task<JobEnd>> configuring_, building_;
};

} // namespace repro_minify
