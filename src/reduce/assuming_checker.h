// Stands in for the CandidateChecker while a question waits for its answer: runs nothing, answers from what is known
// and from what is assumed, and ends the run of code that asks anything else.
#pragma once
#include "reduce/candidate_checker.h"
#include "reduce/questions/dry_run.h"

#include <functional>
#include <string>
#include <utility>

namespace repro_minify {

/// A question that is neither answered nor has an assumed answer.
struct OpenQuestion {
  Program program;
  std::string key; ///< its hash
  double chance = 0;
};

class AssumingChecker final : public Checker {
public:
  /// Returns true once the look ahead is no longer needed.
  using IsOver = std::function<bool()>;

  /// `yes` is the Verdict for an assumed yes.
  AssumingChecker(const CandidateChecker &checker, Assumptions assumed, const Verdict &yes, IsOver is_over)
      : checker_(checker), assumed_(std::move(assumed)), yes_(yes), is_over_(std::move(is_over)) {}

  /// Does what asks; the question that is open has no `chance` yet.
  template <typename Work> DryRunEnd<OpenQuestion> run(const Work &work) { return dry_run_.run(work); }

  const ReductionGoal &goal() const override { return checker_.goal(); }
  const Verdict &check(const Program &program, const std::vector<LazyProgram> &likely_next) override;
  /// A yes or no can be assumed; what it says of each output cannot where these are not those of before, and all that
  /// comes after it stays unknown.
  const Verdict &check_in_full(const Program &program) override;
  bool is_over() const override { return is_over_() || checker_.is_interrupted(); }
  void leave_if_over() override {
    if (is_over())
      dry_run_.stop();
  }
  int unanswered() const override { return checker_.unanswered(); }
  /// Returns 1: looking ahead finds out what follows, so that a pass need not name it.
  int questions_at_once() const override { return 1; }
  void enter_phase(const std::string &) override {}

private:
  const CandidateChecker &checker_;
  Assumptions assumed_;
  const Verdict &yes_;
  const IsOver is_over_;
  DryRun<OpenQuestion> dry_run_;
};

} // namespace repro_minify
