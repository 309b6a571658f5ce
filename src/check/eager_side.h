// The eager side of a check: what each call of the optimised side is compared with. Internal to src/check.
#pragma once

#include "check/compare_runs.h"
#include "repro_minify/check.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

class EagerSide {
public:
  /// `kept`: the file where other checks of the same program under the same settings find what eager did, or have left
  /// it (see EagerMemo); empty: no other check wants to know. `context` lives as long as this.
  EagerSide(const CheckContext &context, std::string kept);

  /// Runs eager, or takes what another check has kept. What eager does wrong, as a Verdict; else nothing.
  std::optional<Verdict> run();
  /// One where every call gives the same, else one for each call.
  std::vector<Observed> calls;
  std::chrono::duration<double> took{}; ///< where eager ran

  /// The sides that eager ran for. They look at more than this check may where eager is kept for others: at all that
  /// any check does. The reference in float64 has to as well.
  const CheckContext &observer() const { return observer_; }
  const std::vector<Observed> &observed() const { return all_.empty() ? calls : all_; }
  const std::string &kept() const { return kept_; }

private:
  std::optional<Verdict> run_as(const CheckContext &context);
  std::optional<Verdict> run_alone();
  bool looks_at_less() const;

  const CheckContext &context_;
  CheckContext observer_;
  std::string kept_;
  std::vector<Observed> all_; ///< the calls with all that was observed; empty where that is what `calls` are
};

/// A program that is random once in a while looks like a backend that is wrong once in a while: before a failure is
/// believed, eager has to answer the same `eager_calls` times.
void doubt_failure(const CheckContext &context, std::vector<Observed> &eager, Verdict &verdict);

// The eager calls once more in float64: the arbiter between the two sides. It takes twice the memory of either and as
// long as both, and most checks never ask it. Internal to src/check.

class Fp64Reference {
public:
  /// `eager`: the side whose calls have been made. Both arguments live as long as this.
  Fp64Reference(const CheckContext &context, const EagerSide &eager) : context_(context), eager_(eager) {}

  /// Runs it, once, unless another check has. What came of it is said in `verdict`.
  void make(Child &child, Verdict &verdict);
  bool is_made() const { return made_; }
  /// Null where there is none: then, as in PyTorch, the comparison is against eager alone.
  Observed *of_call(std::size_t call) { return call < calls_.size() ? &calls_[call] : nullptr; }

private:
  void run(Verdict &verdict);

  const CheckContext &context_;
  const EagerSide &eager_;
  std::vector<Observed> calls_;
  bool made_ = false;
};

/// Eager has a limit of its own, so that what it takes can be the measure of what the optimised side may take.
void allow_eager(Child &child, const Patience &patience);
/// `eager`: what eager took.
void allow_optimised(Child &child, const Patience &patience, std::chrono::duration<double> eager);

} // namespace repro_minify
