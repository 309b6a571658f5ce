// The Session, which every job on a model begins with: the model, its inputs, the backend, and the first check of it as
// it was given. The stages of minify() that come after are functions of a Session.
#pragma once
#include "repro_minify/archive.h"
#include "repro_minify/bisect.h"
#include "repro_minify/flatten.h"
#include "repro_minify/load.h"
#include "repro_minify/minify_options.h"
#include "repro_minify/record.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

// How long each phase of a run took, one after the other.

class PhaseClock {
public:
  /// Begins with the phase of this name.
  explicit PhaseClock(const std::string &phase) { enter(phase); }
  /// Ends the phase before. One that is entered again goes on.
  void enter(const std::string &phase);
  /// In the order of their begin; the last one ends now.
  std::vector<std::pair<std::string, double>> seconds();
  /// From now on `told` hears of each phase that is entered; it may be empty.
  void tell(std::function<void(const std::string &)> told) { told_ = std::move(told); }

private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::pair<std::string, double>> phases_;
  std::function<void(const std::string &)> told_;
  size_t current_ = 0;
  Clock::time_point since_ = Clock::now();
};

/// How often the model fails, measured by Repetition before anything else is done.
struct FailureRate {
  int failed = 0; ///< runs that failed as the first failing one did
  int runs = 0;
  Verdict verdict; ///< of the first failing run, else of the last
  std::vector<Verdict> each;
};

class EagerMemo;

/// The parts of a Session that do not depend on the backend, or on little of it.
struct Loaded {
  LoadedModel model;
  LoadedInputs inputs;
  std::shared_ptr<EagerMemo> eager; ///< what eager did, for the next to know
  /// The model made flat, by what flat programs depend on.
  std::shared_ptr<std::map<std::string, std::shared_ptr<const Program>>> flat;
};

class Session {
public:
  /// Loads model and inputs, and starts the backends; of a converted model, what it was converted to. Throws UserError.
  Session(const std::string &model_path, MinifyOptions options);
  /// With what another session has loaded: `options` are its options but for what names and sets up backends. Throws
  /// UserError.
  Session(const Loaded &loaded, MinifyOptions options);

  const MinifyOptions options;
  PhaseClock phases{"load"};
  const std::string oracle; ///< absolute path of the oracle's program; empty: the backend decides
  std::vector<std::shared_ptr<const Backend>> others; ///< what is named after the first
  std::shared_ptr<const Backend> backend;
  CheckOptions check;
  InterestingnessTest test; ///< the check under the backend, or the user's oracle
  LoadedModel model;
  LoadedInputs inputs;

  /// For sessions of the same model under other backends. From now on checks leave there what they have in common.
  Loaded loaded();
  /// The model's path for a person: what the user named, though it was converted.
  std::string shown_path() const;
  /// The model as it is, nothing flattened. (A method other than forward is inlined first, if it can be: backends
  /// compile forward.)
  ModuleFactory original() const;
  Archive as_given() const;
  /// Checks it as often as Repetition says. Ends early when a run is unresolved, and after the first where it is
  /// interrupted. What the journal knows is not asked. Throws Interrupted.
  FailureRate check_original();
  /// Returns the Verdict on a Program made from the model: is it as wrong as the model? Asked as often as Repetition
  /// says, unless the journal knows. Throws Interrupted.
  Verdict ask(const Program &program, const Signature &wanted);
  /// Runs the job, again while it has no answer, and returns the test's Verdict. Throws Interrupted.
  Verdict answer_to(const Job &job, const Limits &limits) const;
  Verdict answer_to(const InterestingnessTest &asked, const Job &job, const Limits &limits) const;
  /// Records what the Program does in eager mode. Throws std::runtime_error with what went wrong in it, Interrupted.
  Recording recording_of(const Program &program, const Limits &limits) const;
  /// Keeps a journal from now on. What it holds of an earlier run is used.
  void keep_journal(const std::string &path, bool resume);
  std::shared_ptr<Journal> journal;
  /// The limits for candidates: ten times what the original took, at least ten seconds, unless told otherwise; for a
  /// hang a hundred times what eager took, at least five.
  Limits limits() const;
  /// The limits for what a search has come to: a hang that was just long enough for it has to be one for sure.
  Limits confirming_limits(const Signature &wanted) const;
  RunSettings settings() const;

private:
  Session(MinifyOptions options, const std::string &model_path, const Loaded *loaded);
  void load_inputs_of_model();
  Verdict check_once(int run);
  Verdict check_model(const Patience &patience);
  double warm_eager_seconds(const Verdict &hang);
  double least_limit_of_a_hang() const;
  std::string kept_eager() const;
  std::shared_ptr<const Program> flat() const;
  std::shared_ptr<const Program> flat_original() const;

  std::shared_ptr<EagerMemo> eager_memo_; ///< null: no other session wants to know
  /// The flat programs made so far, as in Loaded; shared with the sessions of the same model.
  std::shared_ptr<std::map<std::string, std::shared_ptr<const Program>>> flat_;
  double original_seconds_ = 0;
  std::optional<double> eager_seconds_; ///< where the original hangs
};

/// How much of a model can be flattened before its failure vanishes.
struct Flattened {
  Program program;
  Verdict verdict;
  std::string level;                    ///< what was done: "straight line" or "calls inlined"
  std::optional<std::string> hidden_by; ///< the step that would have made the failure vanish
  ProgramSize before;                   ///< of the model with its calls inlined
  /// The recording of `program`; null where it was not made.
  std::shared_ptr<const Recording> recording;
};
/// The most flattening that keeps the first failure of `original`, the model's own Verdict.
/// Nothing when even inlining loses it. Throws CannotFlatten, Interrupted.
std::optional<Flattened> flatten_model(Session &session, const Verdict &original);
/// Returns the program of flatten_model() where `original` fails; for a model that passes, the model as flat as it
/// gets. Throws UserError.
Program flat_program(Session &session, const Verdict &original);

/// For a program that fails as `wanted` says, with the session's settings.
BisectOptions bisect_options_of(const Session &session, const Signature &wanted);

/// "MODEL: eager itself failed: ..., operators that ...".
std::string eager_problem(const Session &session, const Verdict &verdict);
/// The advice on a model that cannot be flattened.
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

} // namespace repro_minify
