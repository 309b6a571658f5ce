#include "app/session.h"

#include "support/log.h"

#include <iostream>

namespace repro_minify {
namespace {

constexpr int timed_calls = 9;

/// Times are worth having where both sides run to the end.
bool runs_to_the_end(const Verdict &verdict) {
  if (verdict.outcome == Verdict::Outcome::Unresolved)
    return false;
  for (const auto &signature : verdict.signatures)
    if (!is_comparison(signature.kind))
      return false;
  return true;
}

} // namespace

int run_command(const Options &options) {
  Session session(options);
  require_one_backend(session);
  const FailureRate rate = session.check_original();
  const Verdict &verdict = rate.verdict;
  require_checkable(session, verdict);
  if (verdict.eager_failed)
    log::error(eager_problem(session, verdict));
  warn_of_missing_reference(session, verdict);
  std::optional<Timing> timing;
  if (runs_to_the_end(verdict))
    timing = measure_timing(session.original(), session.backend, session.check, timed_calls, session.limits());
  if (options.json)
    std::cout << verdict_json(rate, timing, session) << '\n';
  else
    print_verdict(rate, timing, session);
  if (verdict.eager_failed)
    return EagerNotReproducible;
  return rate.failed >= options.need ? 1 : 0;
}

} // namespace repro_minify
