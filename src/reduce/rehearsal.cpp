#include "reduce/rehearsal.h"

#include <utility>

namespace repro_minify {
namespace {

/// Different futures often lead to the same question, and to known ones: so many are gone into for each worker.
constexpr int tries_for_each_worker = 4;

} // namespace

Rehearsal::Rehearsal(Judge &judge, const LastRecording &recorder, const std::vector<const ReductionPass *> &passes,
                     const Standing &standing)
    : judge_(judge), recorder_(recorder), passes_(passes), yes_(standing.verdict),
      futures_(standing, tries_for_each_worker * judge.questions_at_once()) {}

DryRunEnd<OpenQuestion> Rehearsal::go_on(Standing &standing, const Assumptions &assumed) {
  // A guess at the next question is worth nothing once there is the answer.
  RehearsedAnswers answers(judge_, assumed, yes_, [this] { return judge_.answer_is_there(); });
  Audience nobody;
  Turns turns(answers, recorder_, passes_, nobody);
  TurnReport report;
  auto end = answers.run([&] {
    // A turn that asks something open is begun anew with its answer.
    for (Standing next = standing; const auto pass = next.schedule.next(); standing = next) {
      report = {};
      turns.take(next, *pass, report);
    }
  });
  if (auto *open = std::get_if<OpenQuestion>(&end))
    open->chance = report.chance;
  return end;
}

std::optional<Guess> Rehearsal::next() {
  auto foreseen =
      futures_.next([&](Standing &standing, const Assumptions &assumed) { return go_on(standing, assumed); });
  if (!foreseen)
    return std::nullopt;
  auto &[question, assumed] = *foreseen;
  return judge_.guess_at(std::move(question.program), std::move(question.key), std::move(assumed));
}

} // namespace repro_minify
