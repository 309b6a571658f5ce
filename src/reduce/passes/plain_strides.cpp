// Strides: each input contiguous, from the beginning of memory that no other input lives in.
#include "reduce/passes/in_bulk.h"

#include "program/formula.h"
#include "reduce/passes/order.h"

#include <ATen/ATen.h>

namespace repro_minify {
namespace {

std::optional<Program> contiguous(const Program &program, const std::vector<size_t> &which) {
  Program result = program; // the graph is shared: only values change
  for (size_t i : which) {
    const auto &old = program.inputs[i].value.toTensor();
    result.inputs[i].value = old.detach().clone(at::MemoryFormat::Contiguous).set_requires_grad(old.requires_grad());
  }
  return result;
}

} // namespace

void plain_strides(PassContext &context) {
  std::set<void *> storages;
  const auto irregular = inputs_where(context.current, [&](const ProgramInput &input) {
    const auto &tensor = input.value.toTensor();
    const bool shares = shares_memory(tensor, storages);
    return is_plain(tensor) && (shares || is_irregular(tensor));
  });
  accept_by_halves(context, irregular, contiguous);
}

} // namespace repro_minify
