// The order in which a reduction only goes down: what "smaller" and "simpler" mean. Two programs can be equal in it.
#pragma once
#include "repro_minify/program.h"

#include <compare>
#include <cstdint>

namespace repro_minify {

/// Compared from the first member to the last. Only less will do, never equal: no two passes undo each other for ever.
struct Order {
  int operators = 0;
  int nodes = 0; ///< a constant None is none: an argument that is left out is simpler
  int outputs = 0;
  int inputs = 0;
  std::int64_t trips = 0;     ///< iterations of loops, at most; one that depends on data or has no bound counts as many
  int data_inputs = 0;        ///< inputs that are data rather than a formula
  std::int64_t elements = 0;  ///< of all inputs
  int dimensions = 0;         ///< of all inputs
  int irregular_inputs = 0;   ///< with strides, offsets or shared memory that a tensor just made has not
  int dtypes = 0;             ///< how far the inputs' are from float32
  int needs_autograd = 0;     ///< inputs with requires_grad
  int roles = 0;              ///< parameters, buffers and constants weigh more than arguments
  std::int64_t values = 0;    ///< how hard the inputs' values are to take in (plainness.h); data: to 16 operators
  std::int64_t constants = 0; ///< how hard the graph's numbers are to take in; to 256 operators

  auto operator<=>(const Order &) const = default;
};

Order order_of(const Program &program);

} // namespace repro_minify
