// The two sides of a check, and what they have in common. Internal to src/check.
#pragma once
#include "check/run_program.h"
#include "check/unwritten_memory.h"
#include "repro_minify/check.h"

#include <vector>

namespace repro_minify {

/// One check: what its parts have in common.
struct CheckContext {
  const ModuleFactory &factory;
  const Backend &backend;
  const CheckOptions &options;
  bool everything = false; ///< look at all that a check under any backend looks at

  /// Runs eager: `calls` calls of one instance, each with fresh arguments. Programs that keep state answer differently
  /// each time. Uninitialised memory holds `fill` in the first call, something else in the second, and so on in turn.
  /// `like`: the eager calls that these are the fp64 references of; what those did not write to is not looked at.
  std::vector<Observed> run_eager(int calls, const std::vector<Observed> *like = nullptr,
                                  Fill fill = Fill::Usual) const;
  /// compare_runs(), with what one of them did not write to.
  bool compare(Observed &ref, Observed &res, Observed *fp64, const CompareOptions &how, Verdict &verdict) const;
  /// The options for the runs of either side.
  RunOptions run_options() const;
  InstantiateOptions instance_options(bool double_precision = false) const;
};

} // namespace repro_minify
