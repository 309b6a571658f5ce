#include "reduce/lookahead.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace repro_minify {
namespace {

/// Different futures often lead to the same question, and to known ones: so many are gone into for each worker.
constexpr int tries_for_each_worker = 4;

constexpr int most_questions_of_a_leap = 500;

/// Says that all works but what this run knows not to. What is guessed at, or what an earlier run was told, has no say:
/// what is asked next must not depend on either.
class Optimist final : public AssumingChecker {
public:
  Optimist(const CandidateChecker &checker, const Verdict &yes)
      : AssumingChecker(checker, {}, yes, [] { return false; }) {}

  const Verdict &check(const Program &program, const std::vector<LazyProgram> &) override {
    leave_if_over();
    if (++questions_ > most_questions_of_a_leap)
      dry_run_.stop();
    if (const Verdict *known = checker_.told(canonical_hash(program)))
      return *known;
    return goal().cannot_fail(program) ? no() : yes_;
  }
  const Verdict &check_in_full(const Program &program) override { return check(program, {}); }
  void before_recording() override { throw std::runtime_error("a program that is only assumed is not run"); }

private:
  int questions_ = 0;
};

} // namespace

const Verdict &AssumingChecker::no() {
  static const Verdict no = [] {
    Verdict verdict;
    verdict.outcome = Verdict::Outcome::Pass;
    return verdict;
  }();
  return no;
}

const Verdict &AssumingChecker::check(const Program &program, const std::vector<LazyProgram> &) {
  leave_if_over();
  std::string hash = canonical_hash(program);
  if (const Verdict *verdict = checker_.foreseen(hash))
    return *verdict;
  auto assumed = assumed_.find(hash);
  if (assumed == assumed_.end()) {
    if (const Verdict *verdict = checker_.in_vain(hash))
      return *verdict;
    if (goal().cannot_fail(program))
      return no();
    dry_run_.leave_at({program, std::move(hash)});
  }
  return assumed->second ? yes_ : no();
}

const Verdict &AssumingChecker::check_in_full(const Program &program) {
  const Verdict &verdict = check(program, {});
  const bool assumed = &verdict == &yes_ || &verdict == &no();
  if (assumed && static_cast<size_t>(size_of(program).outputs) != yes_.outputs.size())
    dry_run_.end();
  return verdict;
}

Lookahead::Lookahead(CandidateChecker &checker, LastRecording &recorder,
                     const std::vector<const ReductionPass *> &passes, const ReductionState &state)
    : checker_(checker), recorder_(recorder), passes_(passes), yes_(state.verdict),
      futures_(state, tries_for_each_worker * checker.questions_at_once()) {}

DryRunEnd<Lookahead::OpenQuestion> Lookahead::go_on(ReductionState &state, const Assumptions &assumed) {
  // A guess at the next question is worth nothing once there is the answer.
  AssumingChecker answers(checker_, assumed, yes_, [this] { return checker_.answer_is_there(); });
  Turns turns(answers, recorder_, passes_);
  Turns::Report report;
  auto end = answers.run([&] {
    // A turn that asks something open is begun anew with its answer.
    for (ReductionState next = state; const auto pass = next.schedule.next(); state = next) {
      report = {};
      turns.take(next, *pass, report);
    }
  });
  if (end.question)
    end.question->chance = report.chance;
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

std::vector<Program> steps_if_all_works(const CandidateChecker &checker, LastRecording &recorder,
                                        const std::vector<const ReductionPass *> &passes, const ReductionState &from) {
  std::vector<const ReductionPass *> simplifying;
  std::copy_if(passes.begin(), passes.end(), std::back_inserter(simplifying),
               [](const ReductionPass *pass) { return pass->goal == Goal::Simplicity; });
  Optimist answers(checker, from.verdict);
  std::vector<Program> steps;
  Turns turns(answers, recorder, simplifying, [&](const ReductionState &state) { steps.push_back(state.best); });
  const auto end = answers.run([&] {
    ReductionState state{from.best, from.verdict, from.order, Schedule(simplifying),
                         std::vector<std::string>(simplifying.size())};
    while (const auto pass = state.schedule.next()) {
      Turns::Report report;
      turns.take(state, *pass, report);
    }
  });
  return end.stopped ? std::vector<Program>() : std::move(steps);
}

} // namespace repro_minify
