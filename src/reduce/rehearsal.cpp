#include "reduce/rehearsal.h"

#include <utility>

namespace repro_minify {
namespace {

/// Different futures often lead to the same question, and to known ones: so many are gone into for each worker.
constexpr int tries_for_each_worker = 4;

} // namespace

Rehearsal::Rehearsal(Judge &judge, const Recorder &recorder, const std::vector<const ReductionPass *> &passes,
                     const Standing &standing)
    : judge_(judge), recorder_(recorder), passes_(passes), yes_(standing.verdict),
      tries_(tries_for_each_worker * judge.jobs()) {
  futures_.push({1, standing, {}});
}

/// Nothing if the reduction ends before.
std::optional<Rehearsal::Met> Rehearsal::next_question(Future &future) {
  const Judge::Assuming assuming(judge_, future.assumed, yes_);
  Audience nobody;
  Turns turns(judge_, recorder_, passes_, nobody);
  for (;;) {
    // A turn that asks something open is begun anew with its answer.
    Standing standing = future.standing;
    const auto pass = standing.schedule.next();
    if (!pass)
      return std::nullopt;
    TurnReport report;
    try {
      turns.take(standing, *pass, report);
    } catch (OpenQuestion &question) {
      return Met{std::move(question), report.chance};
    }
    future.standing = std::move(standing);
  }
}

std::optional<Guess> Rehearsal::next() {
  try {
    while (!futures_.empty() && tries_-- > 0) {
      Future future = futures_.top();
      futures_.pop();
      auto met = next_question(future);
      if (!met)
        continue;
      for (bool answer : {true, false}) {
        Future further = future;
        further.probability *= answer ? met->chance : 1 - met->chance;
        further.assumed[met->question.hash] = answer;
        futures_.push(std::move(further));
      }
      return Guess{std::move(met->question.program), std::move(met->question.hash), std::move(future.assumed)};
    }
  } catch (const RehearsalOver &) {
    tries_ = 0;
  }
  return std::nullopt;
}

} // namespace repro_minify
