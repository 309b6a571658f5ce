// The eager calls once more in float64: the arbiter between the two sides. It takes twice the memory of either and as
// long as both, and most checks never ask it. Internal to src/check.
#pragma once
#include "check/eager_side.h"

#include <vector>

namespace repro_minify {

class Fp64Reference {
public:
  /// `eager`: the side whose calls have been made. Both arguments live as long as this.
  Fp64Reference(const CheckContext &context, const EagerSide &eager) : context_(context), eager_(eager) {}

  /// Runs it, once, unless another check has. What came of it is said in `verdict`.
  void make(Child &child, Verdict &verdict);
  bool is_made() const { return made_; }
  /// Null where there is none: then, as in PyTorch, the comparison is against eager alone.
  Observed *of_call(std::size_t call) { return call < calls_.size() ? &calls_[call] : nullptr; }

private:
  void run(Verdict &verdict);

  const CheckContext &context_;
  const EagerSide &eager_;
  std::vector<Observed> calls_;
  bool made_ = false;
};

/// Eager has a limit of its own, so that what it takes can be the measure of what the optimised side may take.
void allow_eager(Child &child, const Patience &patience);

/// The message of whatever is being handled.
std::string current_message();

} // namespace repro_minify
