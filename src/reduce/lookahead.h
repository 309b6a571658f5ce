// Stands in for the CandidateChecker while a question waits for its answer: runs nothing, neither a check nor eager,
// answers from what is known and from what is assumed, and ends the run of code that asks anything else.
#pragma once

#include "reduce/candidate_checker.h"
#include "reduce/search_futures.h"
#include "reduce/turns.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

class AssumingChecker : public Checker {
public:
  /// A question that is neither answered nor has an assumed answer.
  struct OpenQuestion {
    Program program;
    std::string key; ///< its hash
    double chance;   ///< unknown to run()
  };
  /// Returns true once the look ahead is no longer needed.
  using IsOver = std::function<bool()>;

  /// `yes` is the Verdict for an assumed yes.
  AssumingChecker(const CandidateChecker &checker, Assumptions assumed, const Verdict &yes, IsOver is_over)
      : checker_(checker), yes_(yes), assumed_(std::move(assumed)), is_over_(std::move(is_over)) {}

  /// Does what asks.
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
  /// The values of a program that is only assumed are unknown, and so is all that comes of them.
  void before_recording() override { dry_run_.end(); }
  int unanswered() const override { return checker_.unanswered(); }
  /// Returns 1: looking ahead finds out what follows, so that a pass need not name it.
  int questions_at_once() const override { return 1; }
  void enter_phase(const std::string &) override {}

protected:
  static const Verdict &no();

  const CandidateChecker &checker_;
  const Verdict &yes_;
  DryRun<OpenQuestion> dry_run_;

private:
  Assumptions assumed_;
  const IsOver is_over_;
};

// Looks ahead beyond the question that is asked and beyond the pass that asks it: goes on with the reduction itself on
// a copy, with assumed answers, until it asks something that is not known. No pass has to say what it would ask next,
// and no second description of what they ask exists that could drift from it.

class Lookahead {
public:
  /// `state` is that at the begin of the turn that is being taken: what was asked since is known to `checker`.
  Lookahead(CandidateChecker &checker, LastRecording &recorder, const std::vector<const ReductionPass *> &passes,
            const ReductionState &state);

  /// The likeliest question that was not named yet, the one that is being asked among them.
  std::optional<Guess> next();

private:
  using OpenQuestion = AssumingChecker::OpenQuestion;

  DryRunEnd<OpenQuestion> go_on(ReductionState &state, const Assumptions &assumed);

  CandidateChecker &checker_;
  LastRecording &recorder_; ///< what was recorded so far: nothing is added to it
  const std::vector<const ReductionPass *> &passes_;
  const Verdict yes_;
  Futures<ReductionState, OpenQuestion> futures_;
};

// Many simplifications in one question. Where a hang is looked for, each candidate that still hangs takes the whole
// time limit, and one that passes takes a moment: what most likely works is asked for together.

/// The Programs that the passes of Goal::Simplicity would come to from there, one after another, if all that they try
/// worked but what this run was told does not. Runs no check, and no eager: a pass that wants the values of a program
/// that is only assumed is left out. The same for any number of jobs. Empty where that takes too many questions.
std::vector<Program> steps_if_all_works(const CandidateChecker &checker, LastRecording &recorder,
                                        const std::vector<const ReductionPass *> &passes, const ReductionState &from);

} // namespace repro_minify
