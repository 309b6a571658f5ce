// The results of one side's calls, in a file: one check of a program leaves it there for others. Internal to src/check.
#pragma once

#include "check/run_program.h"
#include "repro_minify/check.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct KeptRuns {
  std::vector<Observed> calls;
  double seconds = 0;  ///< what they took
  std::string problem; ///< why there are none
};

/// Writes the file, or none: for values that do not come back as they are, and for more than is worth a file.
void keep_runs(const std::string &file, const KeptRuns &runs) noexcept;

/// Nothing where there is no such file, or not what keep_runs() writes.
std::optional<KeptRuns> load_runs(const std::string &file) noexcept;

/// Returns what the run `all`, which was looked at in every way, would have given if looked at as `how` says.
Observed narrowed(Observed all, const RunOptions &how);

// Where checks of one model under several backends find what eager did for the first of them. Eager is the same for all
// that run the same program under the same settings, and so is float64.

/// A folder in the private folder of the children, which alone write and read its files: what the check of a model
/// leaves there is only read by other checks of the same model. Removed with this object by the process that made it.
class EagerMemo {
public:
  /// Throws std::filesystem::filesystem_error.
  EagerMemo();
  ~EagerMemo();
  EagerMemo(const EagerMemo &) = delete;
  EagerMemo &operator=(const EagerMemo &) = delete;

  /// For check_job(). `program` names what is run: the model as it is, or one of the forms it was brought into.
  std::string file_for(const std::string &program, const Backend &backend, const CheckOptions &options);

private:
  std::filesystem::path folder_;
  int owner_;
  std::map<std::string, std::string> files_; ///< by what eager depends on
};

} // namespace repro_minify
