// The interface that answers the questions of a turn: the CandidateChecker runs checks, AssumingChecker looks ahead.
#pragma once

#include "reduce/passes/pass.h"
#include "repro_minify/reducer.h"

#include <string>
#include <vector>

namespace repro_minify {

// The subject of all questions of a reduction: whether a Program still fails with what was seen.

struct ReductionGoal {
  InterestingnessTest test;
  Signature wanted;
  ReduceOptions options;

  /// True if this Verdict is the failure that is looked for.
  bool is_wanted(const Verdict &verdict) const { return shows(verdict, wanted, options.same_failure); }
  /// A failure that shows in an output needs one.
  bool cannot_fail(const Program &program) const {
    return wanted.where == "output" && program.graph->outputs().empty();
  }
};

class Checker {
public:
  virtual ~Checker() = default;
  virtual const ReductionGoal &goal() const = 0;
  /// Returns the Verdict on the Program; it stays where it is. `likely_next` is what will probably be asked after it.
  virtual const Verdict &check(const Program &program, const std::vector<LazyProgram> &likely_next) = 0;
  /// The same, for a caller who wants to know more of it than whether it fails.
  virtual const Verdict &check_in_full(const Program &program) { return check(program, {}); }
  /// True if the outcome of the turn is no longer wanted: long work is then ended, and leave_if_over() called.
  virtual bool is_over() const = 0;
  /// Leaves the turn by exception where is_over().
  virtual void leave_if_over() = 0;
  /// Called before eager runs a program for a pass. A look ahead runs none, as its program may never come to be: it
  /// leaves the turn by exception, or throws std::runtime_error, after which the pass goes without.
  virtual void before_recording() = 0;
  /// Questions that had no answer so far.
  virtual int unanswered() const = 0;
  // These two do the same as those of the PassServices.
  virtual int questions_at_once() const = 0;
  virtual void enter_phase(const std::string &phase) = 0;
};

} // namespace repro_minify
