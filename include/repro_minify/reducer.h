// The Reducer: schedules passes over a pool of sandboxes until none of them finds anything smaller that still fails.
#pragma once
#include "repro_minify/check.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

class Journal;

/// The question about each candidate, asked in a sandbox: is it still interesting, as the field says? The Reducer knows
/// nothing else of backends and of the user's own oracles.
struct InterestingnessTest {
  std::string name; ///< what asks: the backend's name, the oracle's path
  /// `job` makes the work of a sandbox child on a candidate, and `verdict_of` the Verdict from how the child ended.
  std::function<Job(std::shared_ptr<const Program>)> job;
  /// The same in a process that has answered nothing before, where those of `job` are kept. Empty where they are not.
  std::function<Job(std::shared_ptr<const Program>)> fresh_job;
  std::function<Verdict(const JobEnd &)> verdict_of;
  /// All that a Verdict depends on beside the Program: two with the same answer the same. Asked for once the backend
  /// has started.
  std::function<Identity()> identity;
  /// Starts again what may have died, after a check had no answer. May be empty.
  std::function<void()> revive;
  RunSettings settings; ///< that intermediate values are recorded under
};

/// The Check under a Backend as one.
InterestingnessTest interestingness_test(std::shared_ptr<const Backend> backend, const CheckOptions &options);

struct Progress {
  std::string pass;
  int checks = 0;
  int operators = 0; ///< of the best so far
  int nodes = 0;
  double elapsed_seconds = 0;
};

/// Names of passes, as list_reduction_passes() has them.
struct PassSelection {
  std::vector<std::string> only; ///< empty: all
  std::vector<std::string> skip;
};

struct ReduceOptions {
  SameFailure same_failure = SameFailure::Strict;
  Repetition repetition;
  Limits limits;
  int jobs = 1;
  PassSelection passes;
  double time_budget_seconds = 0;    ///< ends with the best so far; 0: no limit
  std::shared_ptr<Journal> journal;  ///< every verdict is appended, and what it holds is not asked again; null: none
  std::function<bool()> interrupted; ///< polled; true ends the reduction with the best so far
  /// Asked in this process about each candidate that fails as wanted: one of which it says false counts as one that
  /// passes. Empty: it is not asked.
  std::function<bool(const Program &)> also_required;
  std::function<void(const Progress &)> progress; ///< after every check
  /// The first Program and each best so far, while the next check runs: to save it.
  std::function<void(const Program &)> on_improved;
  /// Is told what is done next: "hash", "index", "hints", "first cut", "search".
  std::function<void(const std::string &)> on_phase;
};

struct PassStatistics {
  std::string pass;
  int runs = 0;   ///< how often the pass had its turn
  int tried = 0;  ///< candidates it proposed that were lower in the Order
  int worked = 0; ///< of these, how many fail
  int checks = 0; ///< sandboxed checks it took: the others' answers were known
  double seconds = 0;
  int operators_removed = 0;
  std::string problem; ///< what ended its last bad turn early; empty: nothing
};

struct Reduction {
  Program program;
  Verdict verdict;
  /// The candidate that passes and differs least from the result; nothing when none was seen.
  std::optional<Program> passing;
  /// No single operator, input or output can go, and no simplification of list_reduction_passes() applies, each of them
  /// seen on `program` itself: docs/one-minimal.md.
  bool one_minimal = false;
  /// The reasons why it is not `one_minimal`, a sentence each without its full stop. Empty exactly if it is.
  std::vector<std::string> not_shown_because;
  bool interrupted = false;
  bool out_of_time = false; ///< the time budget ended it
  int checks = 0;           ///< sandboxed checks whose answer was needed
  int cached = 0;           ///< answers that were known already
  int unanswered = 0;       ///< questions that had no answer, however often they were asked
  double seconds = 0;
  double check_seconds = 0; ///< wall time of the needed checks, added up
  std::vector<PassStatistics> passes;
};

/// `start` was seen failing with `wanted`. The result always fails with `wanted` too, and does not depend on `jobs`.
/// Throws UserError for an unknown pass.
Reduction reduce(const Program &start, const Verdict &start_verdict, const Signature &wanted,
                 const InterestingnessTest &test, const ReduceOptions &options);

/// The passes, in the order of the documentation.
std::vector<NamedRow> list_reduction_passes();

} // namespace repro_minify
