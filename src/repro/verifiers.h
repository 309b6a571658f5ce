// The repros are built and run, each in a folder or an interpreter of its own, before they are handed over.
#pragma once
#include "core/files.h"
#include "repro/script_run.h"
#include "repro/script_text.h"
#include "repro_minify/repro.h"
#include "tasks/project_build.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// Builds repro.cpp in a clean folder and runs it. What is still at work is killed with it.
class ReproVerifier {
public:
  /// Has CMake configure what repros of this backend look like as a rule, beside whatever the caller does until
  /// verify(): it takes a second, and no program. `has_operators`: libraries of operators come along.
  void configure(const Backend &backend, bool has_operators);
  /// Does the repro.cpp in `folder` fail with the Signature? `marker` is what reproduction_marker() says of it. Called
  /// once, with or without configure().
  Verification verify(const std::string &folder, const std::string &marker, const Signature &wanted,
                      const VerifyOptions &options = {});

private:
  /// repro.cpp in the making, in a folder beside it.
  struct Build {
    /// `compiler`: empty for the one that CMake chooses.
    Build(const TemporaryFolder &source, const std::string &compiler);

    const std::string compiler, header, folder;
    ProjectBuild project;
  };

  void begin_build(const std::string &compiler);
  Verification run(const std::vector<std::string> &command,
                   const std::function<Verification(const ReproRun &)> &judge) const;
  Verification build_and_run(Build &repro) const;
  bool is_interrupted() const { return options_.interrupted && options_.interrupted(); }
  bool is_python() const { return !options_.python.empty(); }
  bool has_package() const { return std::filesystem::exists(results_ / "model.pt2"); }

  std::filesystem::path given_;
  std::string marker_;
  Signature wanted_;
  VerifyOptions options_;
  const TemporaryFolder results_, printed_; ///< one reduction's results, in a folder of their own
  std::optional<Build> expected_;           ///< after the folder that it is in
  std::string begun_;                       ///< the repro.cpp that is built there
  bool has_script_ = false;
};

/// repro.py of a backend that Python reaches, run by `python` (empty: there is none) in a fresh process. Of several
/// ways to write it the plainest that shows the failure is kept in the folder; where none does there is no file. A
/// script that could not be run, as there is no Python with torch, is kept; and for a backend that is used from Python
/// the plainest one, which write_repro() has written. What runs is killed with it; without finish() nothing is in the
/// folder.
class ScriptVerifier {
public:
  ScriptVerifier(std::string folder, std::string python) : folder_(std::move(folder)), python_(std::move(python)) {}
  /// Writes the ways, and starts the plainest, which then runs beside whatever the caller does. Both have to live as
  /// long. Throws nothing of its own: what went wrong is thrown by finish().
  void begin(const Program &program, const ReproFacts &facts);
  /// Called once, after begin().
  ScriptVerification finish(const std::function<bool()> &interrupted = {});

private:
  void start(const ReproScripts::Script &given) { process_ = started(given, "repro.py", given.text); }
  std::unique_ptr<Task<ReproRun>> started(const ReproScripts::Script &given, const char *name,
                                          const std::string &text) const;
  Verification verify(const ReproScripts::Script &script, const std::function<bool()> &interrupted);
  std::unique_ptr<Task<ReproRun>> started_test(const ReproScripts::Script &script) const;
  std::optional<bool> verified_test(const ReproScripts::Script &script, Task<ReproRun> *test,
                                    const std::function<bool()> &interrupted) const;
  ScriptVerification first_that_fails(const std::function<bool()> &interrupted);

  const std::string folder_, python_;
  const ReproFacts *facts_ = nullptr;
  std::chrono::steady_clock::time_point begun_;
  ReproScripts scripts_;
  std::unique_ptr<Task<ReproRun>> process_;
  bool is_started_ = false; ///< the first form was started, and not yet waited for
  std::exception_ptr problem_;
};

} // namespace repro_minify
