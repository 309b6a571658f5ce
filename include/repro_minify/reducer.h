// The Reducer: schedules passes over a pool of sandboxes until none of them finds anything smaller that still fails.
#pragma once
#include "repro_minify/check.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

struct Progress {
  std::string pass;
  int checks = 0;
  int operators = 0; ///< of the best so far
  int nodes = 0;
  double elapsed_seconds = 0;
};

struct ReduceOptions {
  CheckOptions check;
  SameFailure same_failure = SameFailure::Strict;
  Repetition repetition;
  Limits limits;
  int jobs = 1;
  std::string journal_path;                         ///< every verdict is appended as it comes; empty: none
  std::function<bool()> interrupted;                ///< polled; true ends the reduction with the best so far
  std::function<void(const Progress &)> progress;   ///< after every check
  std::function<void(const Program &)> on_improved; ///< after every accepted step: save it, lest it be lost
};

struct PassStatistics {
  std::string pass;
  int tried = 0;
  int worked = 0;
  double seconds = 0;
};

struct Reduction {
  Program program;
  Verdict verdict;
  bool one_minimal = false; ///< no single node, output or input can go, and no listed simplification applies
  bool interrupted = false;
  int checks = 0;      ///< sandboxed checks whose answer was needed
  int cached = 0;      ///< answers that were known already
  int speculative = 0; ///< checks started ahead of time whose answer nobody asked for
  double seconds = 0;
  std::vector<PassStatistics> passes;
};

/// `start` was seen failing with `wanted`. The result always fails with `wanted` too, and does not depend on `jobs`.
Reduction reduce(const Program &start, const Verdict &start_verdict, const Signature &wanted,
                 std::shared_ptr<const Backend> backend, const ReduceOptions &options);

/// The passes, in the order in which they run.
struct PassRow {
  std::string name, summary;
};
std::vector<PassRow> list_reduction_passes();

} // namespace repro_minify
