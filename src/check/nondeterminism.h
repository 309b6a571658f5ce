// Operators that need not give the same result twice: whom to suspect when two eager runs differ.
#pragma once
#include <c10/core/Device.h>
#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

namespace repro_minify {

enum class Direction { Forward, Backward };
enum class On { AnyDevice, Cuda };

/// One row of the table. In-place and functional forms, and all overloads, are one row.
struct NondeterministicOperator {
  const char *name;    ///< of the operator without namespace and trailing underscore
  Direction direction; ///< where it is nondeterministic
  On device;
  const char *why;    ///< a phrase
  const char *source; ///< who says so
};
const std::vector<NondeterministicOperator> &nondeterministic_operators();

struct UnsteadyOperator {
  std::string name; ///< "aten::scatter_add_"
  std::string why;
};
/// The operators of `graph` (nested blocks included) that the table has for this device, each once, in graph order.
/// `grad`: those of the backward too.
std::vector<UnsteadyOperator> unsteady_operators(const torch::jit::Graph &graph, c10::Device device, bool grad);

/// "aten::a (why), aten::b (why)".
std::string to_string(const std::vector<UnsteadyOperator> &operators);

} // namespace repro_minify
