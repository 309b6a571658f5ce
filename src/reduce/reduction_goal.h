// The subject of all questions of a reduction: whether a Program still fails with what was seen.
#pragma once
#include "repro_minify/reducer.h"

namespace repro_minify {

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

} // namespace repro_minify
