// Reductions whose oracle looks at the program instead of running it: what a pass does, and how often it asks, without
// a backend's whims.
#pragma once
#include "repro_minify/reducer.h"

#include <functional>
#include <utility>

namespace repro_minify::testing_support {

using Predicate = std::function<bool(const Program &)>;

inline Verdict interesting_verdict(bool interesting) {
  Verdict verdict;
  verdict.outcome = interesting ? Verdict::Outcome::Fail : Verdict::Outcome::Pass;
  if (interesting)
    verdict.signatures = {{FailureKind::Interesting, "", ""}};
  return verdict;
}

/// Answers in a sandbox child, as a backend would.
inline InterestingnessTest structural_test(Predicate interesting) {
  InterestingnessTest test;
  test.name = "structural";
  test.job = [interesting = std::move(interesting)](std::shared_ptr<const Program> program) -> Job {
    return [interesting, program](Child &child) { child.reply(to_json(interesting_verdict(interesting(*program)))); };
  };
  test.verdict_of = [](const JobEnd &job_end) { return verdict_of(job_end); };
  return test;
}

inline Reduction reduce_structurally(const Program &start, const Predicate &interesting, const ReduceOptions &options) {
  const Verdict verdict = interesting_verdict(true);
  return reduce(start, verdict, verdict.signatures.front(), structural_test(interesting), options);
}

} // namespace repro_minify::testing_support
