// A script of a repro, run by a Python in a process and a folder of its own.
#pragma once
#include "core/files.h"
#include "repro/judge_run.h"
#include "repro_minify/repro.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

struct ScriptToRun {
  std::string python; ///< the interpreter
  /// Files by name, the script that is run first: "repro.py".
  std::vector<std::pair<std::string, std::string>> files;
  bool reads_files = false; ///< inputs.pt, attributes.pt and reduced.pt lie beside it
};

struct ScriptRun {
  std::shared_ptr<const TemporaryFolder> folder; ///< in which it runs; the task keeps it as well
  std::unique_ptr<Task<ReproRun>> task;
};

/// Starts it, confined as the backend's checks are, beside copies of the user's libraries and modules that lie in
/// `results`. Throws std::system_error where no folder or process can be made.
ScriptRun start_script(const ScriptToRun &script, const ReproFacts &facts, const std::string &results);

} // namespace repro_minify
