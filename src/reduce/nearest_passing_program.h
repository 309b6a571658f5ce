// The candidate that passes and differs least from the best so far: maintainers diff the two.
#pragma once
#include "reduce/order/order.h"
#include "repro_minify/check.h"

#include <optional>
#include <tuple>

namespace repro_minify {

class NearestPassingProgram {
public:
  /// A candidate that was not accepted; `best` is the Order of what it was made from.
  void consider(const Program &candidate, const Order &order, const Verdict &verdict, const Order &best);
  /// There is another best: what was close to the old one is not close any more.
  void reset() { closest_.reset(); }
  std::optional<Program> program() const { return closest_ ? std::optional(closest_->program) : std::nullopt; }

private:
  /// A difference in the program says more than one in its data: those come last.
  using Distance = std::tuple<bool, int, int, int, int>;
  struct Candidate {
    Program program;
    Distance distance;
  };
  std::optional<Candidate> closest_;
};

} // namespace repro_minify
