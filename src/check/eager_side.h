// The eager side of a check: what each call of the optimised side is compared with. Internal to src/check.
#pragma once
#include "check/check_context.h"
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

} // namespace repro_minify
