// Which operators a run calls, and which of them need not give the same result twice.
#pragma once
#include "program/graph.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace repro_minify {

// Which operators a run calls, and which of them an optimised run has no need of: those its backend rewrote.

/// Calls by qualified name ("aten::zeros"). What an operator calls itself does not count.
using OperatorCalls = std::map<std::string, int>;

/// Counts what the calling thread runs while it lives. One at a time for each thread.
class OperatorCounter {
public:
  explicit OperatorCounter(OperatorCalls &calls);
  ~OperatorCounter();
  OperatorCounter(const OperatorCounter &) = delete;
  OperatorCounter &operator=(const OperatorCounter &) = delete;

private:
  uint64_t handle_;
};

/// Returns, sorted, the operators that eager calls more often: folded, fused, replaced or dropped by the optimised run.
std::vector<std::string> rewritten_operators(const OperatorCalls &eager, const OperatorCalls &optimised);

// Operators that need not give the same result twice: whom to suspect when two eager runs differ.

struct UnsteadyOperator {
  std::string name; ///< "aten::scatter_add_"
  std::string why;
};
/// Returns the operators of `graph` (nested blocks included) that are known to be so on this device, each once, in
/// graph order. `grad`: those of the backward too.
std::vector<UnsteadyOperator> unsteady_operators(const Graph &graph, c10::Device device, bool grad);

/// True if the program may draw random numbers, also by a call of torch.fx, which has no schema that tells.
bool may_draw(const torch::jit::Graph &graph);

/// "aten::a (why), aten::b (why)".
std::string to_string(const std::vector<UnsteadyOperator> &operators);

} // namespace repro_minify
