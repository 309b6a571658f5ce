// Inputs: two inputs of the same shape, dtype and role become one; it needs a gradient where one of them does. As many
// as possible become the first of them, then the rest is tried with the next. Where none becomes an earlier one, a
// later one may still do for both.
#include "reduce/passes/in_bulk.h"

#include <ATen/ATen.h>

namespace repro_minify {
namespace {

bool alike(const ProgramInput &a, const ProgramInput &b) {
  const auto &x = a.value.toTensor();
  const auto &y = b.value.toTensor();
  return a.role == b.role && x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes();
}

/// Input `from` read as input `into`.
struct Merge {
  size_t from;
  size_t into;
};

/// For each input the earlier one (or the later one) that is alike and has `rank` others of its kind before it.
std::vector<Merge> merges(const std::vector<ProgramInput> &inputs, size_t rank, bool with_later) {
  std::vector<Merge> result;
  for (size_t from = 0; from < inputs.size(); ++from) {
    size_t before = 0;
    for (size_t into = with_later ? from + 1 : 0; into < (with_later ? inputs.size() : from); ++into)
      if (alike(inputs[into], inputs[from]) && before++ == rank) {
        result.push_back({from, into});
        break;
      }
  }
  return result;
}

Program merged(const Program &program, const std::vector<Merge> &merges, const std::vector<size_t> &which) {
  Program result = copy_of(program);
  for (size_t i : which) {
    const auto [from, into] = merges[i];
    if (program.inputs[from].value.toTensor().requires_grad() &&
        !result.inputs[into].value.toTensor().requires_grad()) {
      result.inputs[into].value = program.inputs[from].value;
      result.inputs[into].formula = program.inputs[from].formula;
    }
    result.graph->inputs()[from]->replaceAllUsesWith(result.graph->inputs()[into]);
  }
  drop_unused(result);
  return result;
}

bool merge_with(PassContext &context, size_t rank, bool with_later) {
  const Program start = context.current;
  const std::vector<Merge> all = merges(start.inputs, rank, with_later);
  return accept_in_bulk(context, all.size(),
                        [&](const std::vector<size_t> &which) { return merged(start, all, which); });
}

bool merge_all(PassContext &context, bool with_later) {
  bool any = false;
  for (size_t rank = 0; !merges(context.current.inputs, rank, with_later).empty(); ++rank)
    any |= merge_with(context, rank, with_later);
  return any;
}

} // namespace

void merge_inputs(PassContext &context) {
  if (!merge_all(context, /*with_later=*/false))
    merge_all(context, /*with_later=*/true);
}

} // namespace repro_minify
