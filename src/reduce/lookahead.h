// Looks ahead beyond the question that is asked and beyond the pass that asks it: goes on with the reduction itself on
// a copy, with assumed answers, until it asks something that is not known. No pass has to say what it would ask next,
// and no second description of what they ask exists that could drift from it.
#pragma once
#include "reduce/assuming_checker.h"
#include "reduce/questions/futures.h"
#include "reduce/turns.h"

#include <optional>
#include <vector>

namespace repro_minify {

class Lookahead final : public Foresight {
public:
  /// `state` is that at the begin of the turn that is being taken: what was asked since is known to `checker`.
  Lookahead(CandidateChecker &checker, const LastRecording &recorder, const std::vector<const ReductionPass *> &passes,
            const ReductionState &state);

  /// The likeliest question that was not named yet, the one that is being asked among them.
  std::optional<Guess> next() override;

private:
  DryRunEnd<OpenQuestion> go_on(ReductionState &state, const Assumptions &assumed);

  CandidateChecker &checker_;
  LastRecording recorder_; ///< its own: what is recorded here is of programs that may never come to be
  const std::vector<const ReductionPass *> &passes_;
  const Verdict yes_;
  Futures<ReductionState, OpenQuestion> futures_;
};

} // namespace repro_minify
