// The order in which a reduction only goes down: what "smaller" and "simpler" mean. After sizes it counts how hard
// values are to take in, in small numbers that are added up; 0 and 1 are the plainest.
#pragma once

#include "repro_minify/program.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <set>

namespace repro_minify {

/// Inputs with more elements are one lump: their elements are neither counted nor rounded.
inline constexpr std::int64_t most_plain_elements = 4096;

/// Returns how hard a number is: 0 and 1 least, then 2, 0.5 and -1, then by how long it is. One where integers or their
/// likes in float32 and float64 end is known to readers, and easier than another one that is as long.
int difficulty(double number);
/// Returns the nearest number where a type ends (2147483647 of int32) that has the sign of the given one and is not
/// more than twice as far from 0, nor less than half; nothing where there is none, or it is that number.
std::optional<double> limit_near(double number);
/// Returns how hard an input's values are: a formula less than data, data by its numbers.
std::int64_t difficulty(const ProgramInput &input);
/// float32 first, then float64, the 16-bit ones, int64 and the other integers, complex, bool.
int difficulty(at::ScalarType dtype);
int difficulty(Role role);
/// Returns argument `i` of the node as its schema has it; null where there is none.
const c10::Argument *argument_of(const torch::jit::Node *node, size_t i);
/// True if two constants are the same argument: a number may be written as an int or as a float.
bool is_same_constant(const c10::IValue &one, const c10::IValue &other);
/// True if argument `i` of the node is the constant that its schema has as default.
bool is_default_argument(const torch::jit::Node *node, size_t i);

/// True if the tensor is not contiguous, or a part of a larger memory.
bool is_irregular(const at::Tensor &tensor);
/// True if an input seen before lives in the same memory: `storages` has those inputs' storages, and gets this one's.
bool shares_memory(const at::Tensor &tensor, std::set<void *> &storages);

/// Compared from the first member to the last; two programs can be equal. A candidate has to be less, never equal, so
/// that no two passes undo each other for ever.
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
  std::int64_t values = 0;    ///< how hard the inputs' values are to take in; data: to 16 operators
  std::int64_t constants = 0; ///< how hard the graph's numbers are to take in; to 256 operators

  auto operator<=>(const Order &) const = default;
};

Order order_of(const Program &program);

} // namespace repro_minify
