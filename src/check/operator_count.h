// Which operators a run calls, and which of them an optimised run has no need of: those its backend rewrote.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace repro_minify {

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

} // namespace repro_minify
