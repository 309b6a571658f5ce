// How a stage of the search asks about a set, whether it is run for real or ahead of time.
#pragma once
#include "program/dataflow/dataflow.h"

namespace repro_minify {

/// The seam that keeps parallelism out of the algorithms: a stage asks as if there were one worker, and cannot tell
/// whether its answers come from the oracle or from a guess at what the oracle will say.
class Questioner {
public:
  virtual ~Questioner() = default;
  /// Returns true if `kept` still fails. `chance` is roughly how often such a question is answered yes; it only orders
  /// speculation.
  virtual bool fails(const IndexSet &kept, double chance) = 0;
};

} // namespace repro_minify
