// Inputs: two inputs of the same shape, dtype and role become one; it needs a gradient where one of them does.
#include "reduce/passes/pass.h"

#include <ATen/ATen.h>

namespace repro_minify {
namespace {

bool alike(const ProgramInput &a, const ProgramInput &b) {
  const auto &x = a.value.toTensor();
  const auto &y = b.value.toTensor();
  return a.role == b.role && x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes();
}

Program merged(const Program &program, size_t into, size_t from) {
  Program result = copy_of(program);
  if (program.inputs[from].value.toTensor().requires_grad() && !program.inputs[into].value.toTensor().requires_grad()) {
    result.inputs[into].value = program.inputs[from].value;
    result.inputs[into].formula = program.inputs[from].formula;
  }
  result.graph->inputs()[from]->replaceAllUsesWith(result.graph->inputs()[into]);
  drop_unused(result);
  return result;
}

} // namespace

bool merge_inputs(PassContext &context) {
  bool any = false;
  for (bool accepted = true; accepted;) {
    const auto &inputs = context.current.inputs;
    std::vector<Judge::LazyProgram> candidates;
    for (size_t from = inputs.size(); from-- > 1;)
      for (size_t into = 0; into < from; ++into)
        if (alike(inputs[into], inputs[from]))
          candidates.push_back([&context, into, from] { return merged(context.current, into, from); });
    accepted = accept_first(context, candidates);
    any |= accepted;
  }
  return any;
}

} // namespace repro_minify
