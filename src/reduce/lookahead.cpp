#include "reduce/lookahead.h"

#include <utility>

namespace repro_minify {
namespace {

/// Different futures often lead to the same question, and to known ones: so many are gone into for each worker.
constexpr int tries_for_each_worker = 4;

} // namespace

Lookahead::Lookahead(CandidateChecker &checker, const LastRecording &recorder,
                     const std::vector<const ReductionPass *> &passes, const ReductionState &state)
    : checker_(checker), recorder_(recorder), passes_(passes), yes_(state.verdict),
      futures_(state, tries_for_each_worker * checker.questions_at_once()) {}

DryRunEnd<OpenQuestion> Lookahead::go_on(ReductionState &state, const Assumptions &assumed) {
  // A guess at the next question is worth nothing once there is the answer.
  AssumingChecker answers(checker_, assumed, yes_, [this] { return checker_.answer_is_there(); });
  ReductionObserver unheard;
  Turns turns(answers, recorder_, passes_, unheard);
  TurnReport report;
  auto end = answers.run([&] {
    // A turn that asks something open is begun anew with its answer.
    for (ReductionState next = state; const auto pass = next.schedule.next(); state = next) {
      report = {};
      turns.take(next, *pass, report);
    }
  });
  if (auto *open = std::get_if<OpenQuestion>(&end))
    open->chance = report.chance;
  return end;
}

std::optional<Guess> Lookahead::next() {
  auto foreseen =
      futures_.next([&](ReductionState &state, const Assumptions &assumed) { return go_on(state, assumed); });
  if (!foreseen)
    return std::nullopt;
  auto &[question, assumed] = *foreseen;
  return checker_.guess_at(std::move(question.program), std::move(question.key), std::move(assumed));
}

} // namespace repro_minify
