// The total order in which a reduction only goes down: what "smaller" and "simpler" mean.
#pragma once
#include "repro_minify/program.h"

#include <compare>
#include <cstdint>

namespace repro_minify {

/// Compared from the first member to the last. Strict, so that two passes cannot undo each other for ever.
struct Order {
  int operators = 0;
  int nodes = 0;
  int outputs = 0;
  int inputs = 0;
  std::int64_t trips = 0;    ///< iterations of loops, at most; one that depends on data or has no bound counts as many
  int data_inputs = 0;       ///< inputs that are data rather than a formula
  std::int64_t elements = 0; ///< of all inputs
  int needs_autograd = 0;    ///< inputs with requires_grad

  auto operator<=>(const Order &) const = default;
};

Order order_of(const Program &program);

} // namespace repro_minify
