// Who answers the questions of a turn: the Judge, or in a rehearsal who only assumes.
#pragma once
#include "reduce/inquiry.h"
#include "reduce/passes/examiner.h"

#include <string>
#include <vector>

namespace repro_minify {

class Answerer {
public:
  virtual ~Answerer() = default;
  virtual const Inquiry &inquiry() const = 0;
  /// Returns the Verdict on the Program; it stays where it is. `likely_next` is what will probably be asked after it.
  virtual const Verdict &judge(const Program &program, const std::vector<LazyProgram> &likely_next) = 0;
  /// The same, for a caller who wants to know more of it than whether it fails.
  virtual const Verdict &judge_in_full(const Program &program) { return judge(program, {}); }
  /// True if the outcome of the turn is no longer wanted: long work is then ended, and leave_if_over() called.
  virtual bool is_over() const = 0;
  /// Leaves the turn by exception where is_over().
  virtual void leave_if_over() = 0;
  /// Questions that had no answer so far.
  virtual int unanswered() const = 0;
  // These two do the same as those of the Examiner.
  virtual int questions_at_once() const = 0;
  virtual void enter_phase(const std::string &phase) = 0;
};

} // namespace repro_minify
