// What every subcommand begins with: the model, its inputs, and the first check of it as it was given.
#pragma once
#include "app/options.h"
#include "app/phase_clock.h"
#include "check/nondeterminism.h"
#include "program/archive.h"
#include "program/flatten.h"
#include "program/load.h"
#include "program/record.h"
#include "reduce/journal.h"
#include "repro_minify/reducer.h"

#include <functional>
#include <memory>

namespace repro_minify {

/// What `--repeat` measures before anything else is done.
struct FailureRate {
  int failed = 0; ///< runs that failed as the first failing one did
  int runs = 0;
  Verdict verdict; ///< of the first failing run, else of the last
  std::vector<Verdict> each;
};

class Session {
public:
  /// Loads model and inputs. Throws UserError.
  explicit Session(const Options &options);

  const Options &options;
  PhaseClock phases{"load"};
  const std::string oracle; ///< absolute path of --oracle's program; empty: the backend decides
  std::vector<std::shared_ptr<const Backend>> others; ///< what --backend names after the first
  std::shared_ptr<const Backend> backend;
  CheckOptions check;
  InterestingnessTest test; ///< the check under the backend, or the user's oracle
  LoadedModel model;
  LoadedInputs inputs;

  /// The model as it is, nothing flattened. (A method other than forward is inlined first, if it can be: backends
  /// compile forward.)
  Subject original() const;
  Archive as_given() const;
  /// Checks it as often as `--repeat` says. Ends early when a run is unresolved. What the journal knows is not asked.
  FailureRate check_original(const std::function<bool()> &interrupted = {});
  /// Whether a Program made from the model is as wrong as the model: as often as `--repeat` says, unless the journal
  /// knows.
  Verdict ask(const Program &program, const Signature &wanted);
  /// What the test says of such a job, asked again while it has no answer.
  Verdict answer_to(const Job &job, const Limits &limits) const;
  Verdict answer_to(const InterestingnessTest &asked, const Job &job, const Limits &limits) const;
  /// Keeps a journal from now on. What it holds of an earlier run is used.
  void keep_journal(const std::string &path, bool resume);
  std::shared_ptr<Journal> journal;
  /// The limits for candidates: ten times what the original took, at least ten seconds, unless told otherwise; for a
  /// hang a hundred times what eager took, at least five.
  Limits limits() const;
  /// The limits for what a search has come to: a hang that was just long enough for it has to be one for sure.
  Limits confirming_limits(const Signature &wanted) const;
  RunSettings settings() const;
  /// The operators of the model that may be why eager is not reproducible, for a person.
  std::string eager_suspects() const;

private:
  Verdict check_once(int run);
  Verdict check_within(double times_the_limit);

  double original_seconds_ = 0;
  std::optional<double> eager_seconds_; ///< where the original hangs
};

/// "MODEL: eager itself failed: ..., operators that ...".
std::string eager_problem(const Session &session, const Verdict &verdict);
/// What to do about a model that cannot be flattened.
inline constexpr const char *advice_on_flattening =
    "try torch.jit.trace of the same model with the same inputs, which keeps only the operators that ran";
/// "MODEL: cannot be flattened: ...", and what to do about it.
UserError cannot_flatten(const Session &session, const CannotFlatten &error);
/// Throws UserError where more than one backend is named.
void require_one_backend(const Session &session);
/// Throws UserError for a Verdict that is unresolved for another reason than eager's not being reproducible.
void require_checkable(const Session &session, const Verdict &verdict);
/// The accuracy check without its arbiter is a weaker one: says so, and why.
void warn_of_missing_reference(const Session &session, const Verdict &verdict);

/// What `run` finds out beside the Verdict.
struct RunFacts {
  std::optional<Timing> timing;
  std::optional<bool> reads_unwritten; ///< reads_unwritten_memory; nothing: not asked, or not known
};

/// Prints results for people on standard output, one table.
void print_verdict(const FailureRate &rate, const RunFacts &facts, const Session &session);
/// The same for scripts.
std::string verdict_json(const FailureRate &rate, const RunFacts &facts, const Session &session);

} // namespace repro_minify
