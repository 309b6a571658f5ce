// The Check: run a Program eagerly and through a Backend, compare, answer with a Verdict.
#pragma once
#include "check/compare.h"
#include "check/failure_kind.h"
#include "repro_minify/backend.h"
#include "repro_minify/program.h"
#include "sandbox/sandbox.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// What makes two failures the same failure.
struct Signature {
  FailureKind kind = FailureKind::Accuracy;
  /// Where it shows: "output", "gradient", "state" (a buffer or a mutated input), or "" for an exception, a crash, a
  /// hang.
  std::string where;
  /// For an exception its message without numbers, addresses and paths; for a crash its signal.
  std::string detail;

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
  bool eager_differs = false; ///< Unresolved because two eager runs differ
  int failing_call = 0;       ///< 1-based: the first call of the optimised program that is wrong
  bool has_fp64_reference = false;
  bool stateful = false; ///< eager answers differently from call to call, the same way each time
  std::vector<LeafReport> outputs, gradients, state; ///< of the first failing call (the last one when all pass)
  double eager_seconds = 0, optimised_seconds = 0;   ///< the last call of each
  double wall_seconds = 0;                           ///< the whole check, as the parent saw it
};
/// Whether the Verdict is a failure with this Signature among those it shows.
bool shows(const Verdict &verdict, const Signature &wanted);

struct CheckOptions {
  bool grad = false; ///< compare gradients of parameters and inputs too
  int calls = 3;     ///< calls of the optimised program, each compared
  uint64_t seed = 0;
  int threads = 1; ///< of the child
  CompareOptions compare = accuracy_check_options();
};

/// What is checked: makes a fresh module and fresh arguments each time it is called.
using Subject = std::function<Instance(const InstantiateOptions &)>;
Subject subject_of(std::shared_ptr<const Program> program);

/// Runs the Check in the calling process: arithmetic, and whatever the backend does. For sandbox children.
Verdict check_here(const Subject &subject, const Backend &backend, const CheckOptions &options, Child &child);

/// The job of a sandbox child that answers with check_here's Verdict, and the Verdict in what came of it: a crash, a
/// hang, exhausted memory in the backend is a failure, in the eager run it is Unresolved.
Job check_job(Subject subject, std::shared_ptr<const Backend> backend, CheckOptions options);
Verdict verdict_of(const Outcome &outcome);

/// One Check in a sandbox of its own.
Verdict check(Subject subject, std::shared_ptr<const Backend> backend, const CheckOptions &options,
              const Limits &limits);

/// An exception's message as a Signature keeps it.
std::string normalise_message(const std::string &message);

/// As JSON text and back.
std::string to_json(const Verdict &verdict);
Verdict verdict_from_json(const std::string &json);

} // namespace repro_minify
