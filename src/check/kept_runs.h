// The results of one side's calls, in a file: one check of a program leaves it there for others. Internal to src/check.
#pragma once
#include "check/run_program.h"

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

} // namespace repro_minify
