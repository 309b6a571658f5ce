// A CMake project with one source, configured and built while other work goes on.
#pragma once
#include "tasks/task.h"
#include "toolchain/kept_headers.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

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
