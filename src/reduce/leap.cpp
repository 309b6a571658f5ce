#include "reduce/leap.h"

#include "reduce/questions/dry_run.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace repro_minify {
namespace {

constexpr int most_questions_of_a_leap = 500;

/// Says that all works but what this run knows not to. What is guessed at, or what an earlier run was told, has no say:
/// what is asked next must not depend on either.
class Optimist final : public Checker {
public:
  Optimist(const CandidateChecker &checker, const Verdict &yes) : checker_(checker), yes_(yes) {
    no_.outcome = Verdict::Outcome::Pass;
  }

  template <typename Work> bool run(const Work &work) {
    return std::holds_alternative<CameToItsEnd>(dry_run_.run(work));
  }

  const ReductionGoal &goal() const override { return checker_.goal(); }
  const Verdict &check(const Program &program, const std::vector<LazyProgram> &) override {
    leave_if_over();
    if (++questions_ > most_questions_of_a_leap)
      dry_run_.stop();
    if (const Verdict *known = checker_.told(canonical_hash(program)))
      return *known;
    return goal().cannot_fail(program) ? no_ : yes_;
  }
  bool is_over() const override { return checker_.is_interrupted(); }
  void leave_if_over() override {
    if (is_over())
      dry_run_.stop();
  }
  int unanswered() const override { return checker_.unanswered(); }
  int questions_at_once() const override { return 1; }
  void enter_phase(const std::string &) override {}

private:
  struct NoQuestion {};

  const CandidateChecker &checker_;
  const Verdict &yes_;
  Verdict no_;
  DryRun<NoQuestion> dry_run_;
  int questions_ = 0;
};

class Steps final : public ReductionObserver {
public:
  void improved(const ReductionState &state) override { programs.push_back(state.best); }
  std::vector<Program> programs;
};

} // namespace

std::vector<Program> steps_if_all_works(const CandidateChecker &checker, const LastRecording &recorder,
                                        const std::vector<const ReductionPass *> &passes, const ReductionState &from) {
  std::vector<const ReductionPass *> simplifying;
  std::copy_if(passes.begin(), passes.end(), std::back_inserter(simplifying),
               [](const ReductionPass *pass) { return pass->goal == Goal::Simplicity; });
  Optimist answers(checker, from.verdict);
  LastRecording own_recorder = recorder; // what is recorded here is of programs that may never come to be
  Steps steps;
  Turns turns(answers, own_recorder, simplifying, steps);
  const bool is_whole = answers.run([&] {
    ReductionState state{from.best, from.verdict, from.order, Schedule(simplifying),
                         std::vector<std::string>(simplifying.size())};
    while (const auto pass = state.schedule.next()) {
      TurnReport report;
      turns.take(state, *pass, report);
    }
  });
  return is_whole ? std::move(steps.programs) : std::vector<Program>();
}

} // namespace repro_minify
