#include "reduce/nearest_passing_program.h"

#include <cstdlib>

namespace repro_minify {

void NearestPassingProgram::consider(const Program &candidate, const Order &order, const Verdict &verdict,
                                     const Order &best) {
  if (verdict.outcome != Verdict::Outcome::Pass || order.operators == 0)
    return;
  const int operators = std::abs(order.operators - best.operators);
  const int nodes = std::abs(order.nodes - best.nodes);
  const Distance distance{operators == 0 && nodes == 0, operators, nodes, std::abs(order.outputs - best.outputs),
                          std::abs(order.inputs - best.inputs)};
  if (!closest_ || distance < closest_->distance)
    closest_ = Candidate{candidate, distance};
}

} // namespace repro_minify
