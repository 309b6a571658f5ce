#include "reduce/passes/pass.h"

#include "program/flatten.h"

namespace repro_minify {

const std::vector<ReductionPass> &reduction_passes() {
  static const std::vector<ReductionPass> passes = {
      {"cut", "remove nodes; what they made comes back as an input with the recorded value", cut_nodes},
      {"outputs", "return fewer values", drop_outputs},
      {"bypass", "remove a node and read one of its operands instead", bypass_nodes},
      {"inputs", "use one input for two", merge_inputs},
      {"plain-values", "zeros, ones, a seeded randn instead of recorded data", plain_values},
  };
  return passes;
}

std::vector<PassRow> list_reduction_passes() {
  std::vector<PassRow> rows;
  for (const auto &pass : reduction_passes())
    rows.push_back({pass.name, pass.summary});
  return rows;
}

Order order_of(const Program &program) {
  const ProgramSize size = size_of(program);
  int data = 0, autograd = 0;
  int64_t elements = 0;
  for (const auto &input : program.inputs) {
    const auto &tensor = input.value.toTensor();
    autograd += tensor.requires_grad();
    if (!input.formula.empty())
      continue;
    ++data;
    elements += tensor.numel();
  }
  return {size.operators, size.nodes, size.outputs, static_cast<int>(program.inputs.size()), data, elements, autograd};
}

bool accept_first(PassContext &context, const std::vector<Judge::LazyProgram> &candidates) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    const std::vector<Judge::LazyProgram> next(
        candidates.begin() + static_cast<std::ptrdiff_t>(i) + 1,
        candidates.begin() +
            static_cast<std::ptrdiff_t>(std::min(candidates.size(), i + static_cast<size_t>(context.judge.jobs()))));
    if (context.accept(candidates[i](), next))
      return true;
  }
  return false;
}

Program copy_of(const Program &program) {
  Program copy = program;
  copy.graph = program.graph->copy();
  return copy;
}

} // namespace repro_minify
