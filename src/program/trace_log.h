// The log of a traced run, as numbers that a child can send: nodes are named by their addresses, which a forked child
// shares with its parent as long as the graphs were there before.
#pragma once
#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <string>
#include <vector>

namespace repro_minify {

/// One step. Each defines one or more numbered values; the arguments of the method are the first.
struct TraceStep {
  enum Kind : int64_t {
    Operator,  ///< `node` was run on `operands`: defines its outputs
    Constant,  ///< constants[index], of the type of `value` if there is one
    Attribute, ///< of the model, by its path: constants[index]
    Tuple,     ///< of `operands`
    List,      ///< of `operands`, with elements as `value` has them
  };
  Kind kind = Operator;
  torch::jit::Node *node = nullptr;
  const torch::jit::Value *value = nullptr;
  int64_t index = 0;
  std::vector<int64_t> operands;
};

struct TraceLog {
  std::vector<TraceStep> steps;
  std::vector<c10::IValue> constants;
  std::vector<int64_t> outputs; ///< numbers of values

  c10::IValue packed() const;
  static TraceLog unpacked(const c10::IValue &packed);
};

} // namespace repro_minify
