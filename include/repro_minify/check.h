// The Check: run a Program eagerly and through a Backend, compare, answer with a Verdict.
#pragma once
#include "repro_minify/backend.h"
#include "repro_minify/compare.h"
#include "repro_minify/identity.h"
#include "repro_minify/program.h"
#include "repro_minify/run_settings.h"
#include "repro_minify/sandbox.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// Identifies a failure: two failures with equal Signatures are the same failure.
struct Signature {
  FailureKind kind = FailureKind::Accuracy;
  /// Where it shows: "output", "gradient", "state" (a buffer or a mutated input), or "" for an exception, a crash, a
  /// hang.
  std::string where;
  /// For an exception its message without numbers, addresses and paths; for a crash its signal and the innermost named
  /// frames ("signal 11 in f, g"); "whole numbers" for those under CompareRule::Exact and Close.
  std::string detail;
  int signal = 0; ///< of a crash, what ended its process; 0: it ended itself, or a device had an error that stays
  /// True for wrong whole numbers that are right once no two elements of an input are equal: an index of equal
  /// elements, of which any may be right. A failure that does not hang on that is not the same as one that does.
  bool at_equal_elements = false;

  bool operator==(const Signature &) const = default;
};
std::string to_string(const Signature &signature);

struct Verdict {
  enum class Outcome {
    Pass,
    Fail,
    Unresolved, ///< eager itself fails or is not reproducible, or the check could not be made
  };
  Outcome outcome = Outcome::Unresolved;
  /// Every Signature this failure shows, the most telling first. Empty unless Fail.
  std::vector<Signature> signatures;
  /// One line for a person: the worst mismatch, the exception's message, why it is unresolved.
  std::string message;
  /// Unresolved because of eager itself: two runs differ, or it crashes, hangs or runs out of memory. (One that raises
  /// is taken for bad input.)
  bool eager_failed = false;
  bool eager_raises = false; ///< Unresolved because eager raises: `message` says what
  /// Unresolved because nothing came of the check: no process could be made, one was killed from outside, a compiler
  /// could not be started. It says nothing of what was checked, and must not be remembered.
  bool no_answer = false;
  /// Where it is Unresolved and that says nothing of the model, of the backend or of the options.
  enum class Trouble {
    None,
    Bug,    ///< repro-minify itself went wrong
    Memory, ///< this machine has too little memory for the check
  };
  Trouble trouble = Trouble::None;
  bool out_of_memory = false;      ///< a limit on memory ended the check, whichever side had come to it
  int failing_call = 0;            ///< 1-based: the first call of the optimised program that is wrong
  bool has_fp64_reference = false; ///< false too where it had no say, and was not made
  std::string no_fp64_because;     ///< what the fp64 run raised; empty when there is a reference
  double eager_seconds = 0;        ///< where the optimised side did not end: what all before it took
  uint64_t eager_bytes = 0;        ///< where it ran out of memory: the most that all before it held
  /// The gradients that --grad could not compare ("the gradients of 3 parameters, which are constants under freeze");
  /// empty: none.
  std::string left_out;
  bool no_gradient_left = false; ///< all that --grad would have looked at is left out
  bool stateful = false;         ///< eager answers differently from call to call, the same way each time
  /// Operators that the last eager run called more often than the last optimised one, as "aten::zeros": folded, fused,
  /// replaced or dropped. Where a backend calls none of them (it runs in another process, or generates code): all.
  std::vector<std::string> rewritten;
  std::optional<Coverage> coverage;                  ///< of the optimised run, where the backend says
  std::vector<LeafReport> outputs, gradients, state; ///< of the first failing call (the last one when all pass)
  double wall_seconds = 0;                           ///< the whole check, as the parent saw it
};
/// When two failures are the same one.
enum class SameFailure {
  Strict, ///< the whole Signature is equal
  Kind,   ///< the kind is equal: another message, another crash, a gradient instead of an output will do
  Any,    ///< any failure will do
};
const char *to_string(SameFailure same_failure); ///< "strict", "kind", "any"
/// True if the Verdict is a failure that counts as `wanted`.
bool shows(const Verdict &verdict, const Signature &wanted, SameFailure same_failure = SameFailure::Strict);

enum class CheckMode {
  Accuracy, ///< eager against eager, then eager against optimised
  Run,      ///< nothing is compared: only an exception, a crash, a hang or exhausted memory is a failure
};

/// How long the optimised side may take before it counts as a hang: eager's own time says, not a clock alone.
struct Patience {
  double least_seconds = 0; ///< 0: there is no limit but the sandbox's
  double times_eager = 200; ///< eager being loaded, and called twice
};

/// The options of a Check. With `grad` of the RunSettings, gradients of parameters and inputs are compared too.
struct CheckOptions : RunSettings {
  CheckMode mode = CheckMode::Accuracy;
  int calls = 3;             ///< calls of the optimised program, each compared
  int eager_calls = 2;       ///< calls of eager that have to agree before a wrong result is the backend's fault
  bool only_forward = false; ///< compare what forward returns, not the buffers and inputs it leaves behind
  bool require_fp64 = false; ///< no fp64 reference: Unresolved, rather than a comparison against eager alone
  /// The errors of both sides against float64 are wanted even where nothing depends on them.
  bool measure_always = false;
  CompareOptions compare = accuracy_check_options();
  Patience patience; ///< decides how long is waited for an answer, not what the answer is
};
/// Everything in the options that a Verdict can depend on.
Identity identity_of(const CheckOptions &options);
/// The settings that both sides run under: a backend that is about autocast switches it on.
RunSettings run_settings(const Backend &backend, const CheckOptions &options);

/// The program to check: makes a fresh module and fresh arguments each time it is called.
using ModuleFactory = std::function<Instance(const InstantiateOptions &)>;
ModuleFactory factory_of(std::shared_ptr<const Program> program);

/// Runs the Check in the calling process: arithmetic, and whatever the backend does. For sandbox children.
/// `kept_eager`: a file in the children's private folder where another check of the same ModuleFactory has left what
/// eager did under the same settings, or this one leaves it for others (check/kept_runs.h); empty: there are none.
Verdict check_here(const ModuleFactory &factory, const Backend &backend, const CheckOptions &options, Child &child,
                   const std::string &kept_eager = "");

/// The job of a sandbox child that answers with check_here's Verdict, and the Verdict in what came of it: a crash, a
/// hang, exhausted memory in the backend is a failure, in the eager run it is Unresolved.
Job check_job(ModuleFactory factory, std::shared_ptr<const Backend> backend, CheckOptions options,
              std::string kept_eager = "");
Verdict verdict_of(const JobEnd &job_end);

/// One Check in a sandbox of its own, asked again while it has no answer.
Verdict check(ModuleFactory factory, std::shared_ptr<const Backend> backend, const CheckOptions &options,
              const Limits &limits);

/// A failure that does not show in every run: the candidate is checked up to `runs` times and fails if `need` of them
/// do.
struct Repetition {
  int runs = 1;
  int need = 1;
};

/// Calls `once` until it is known whether `need` of the Verdicts are `wanted`, or until one is Unresolved; returns the
/// Verdict that decided.
Verdict check_repeatedly(const std::function<Verdict()> &once, const std::function<bool(const Verdict &)> &wanted,
                         const Repetition &repetition);

/// Runs the optimised side again with other contents in uninitialised memory: true if its results change, and so depend
/// on that memory. Returns nothing where that cannot be told.
std::optional<bool> reads_unwritten_memory(ModuleFactory factory, std::shared_ptr<const Backend> backend,
                                           const CheckOptions &options, const Limits &limits);

/// The first result that differs from eager by more than rounding and is nearer to float64 than eager is, as
/// "output[1]"; empty where there is none.
std::string nearer_to_fp64(const Verdict &verdict);

/// How often each side ran, and how fast once it was warm.
struct Timing {
  int calls = 0; ///< timed calls of either side; 0: not measured
  /// Median: forward alone; with `grad` or on another device all of a run, with the copies of its arguments and
  /// results.
  double eager_seconds = 0;
  double optimised_seconds = 0;
  double compile_seconds = 0; ///< Backend::compile and the first call
};
/// Times both sides in a sandbox: after `options.calls` calls to warm up, up to `calls` each, two seconds at most.
/// Nothing when either side fails to run.
std::optional<Timing> measure_timing(ModuleFactory factory, std::shared_ptr<const Backend> backend,
                                     const CheckOptions &options, int calls, const Limits &limits);

/// An exception's message as a Signature keeps it.
std::string normalise_message(const std::string &message);

/// Converts a Verdict to JSON text and back.
std::string to_json(const Verdict &verdict);
Verdict verdict_from_json(const std::string &json);

} // namespace repro_minify
