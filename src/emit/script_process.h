// A Python at work on one repro.py, in a folder of its own.
#pragma once
#include "emit/judge_run.h"
#include "support/temporary_folder.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// How a script is run: where, with what, for how long.
struct ScriptSetting {
  std::string python;
  Confinement confinement;                      ///< without the script's own folder
  std::chrono::milliseconds patience;           ///< from its first line on
  std::vector<std::filesystem::path> libraries; ///< that it loads from beside itself
};

/// Killed with this object.
class ScriptProcess {
public:
  /// Starts an interpreter that imports a module ("torch": a second or two of a processor), and waits for its script
  /// for a minute.
  static std::unique_ptr<ScriptProcess> in_waiting(const ScriptSetting &setting, const std::string &module);
  /// Starts one that runs the script.
  ScriptProcess(const ScriptSetting &setting, const std::string &script);
  ~ScriptProcess();
  ScriptProcess(const ScriptProcess &) = delete;
  ScriptProcess &operator=(const ScriptProcess &) = delete;

  /// One in waiting begins with its script; false where it has not waited so long.
  bool begin(const std::string &script);
  /// To its end.
  ReproRun wait(const std::function<bool()> &interrupted);

private:
  explicit ScriptProcess(const ScriptSetting &setting);
  void start(std::vector<std::string> command, std::chrono::milliseconds timeout, int input);
  std::string file() const { return alone_ / "repro.py"; }

  const ScriptSetting setting_;
  const TemporaryFolder alone_;
  std::optional<ReproProcess> running_; ///< after the folder that it runs in
  std::chrono::steady_clock::time_point waits_until_;
  std::array<int, 2> ends_{-1, -1}; ///< ours and its own, of what tells it to begin
};

} // namespace repro_minify
