// Inputs: two inputs of the same shape, dtype and role become one. As many as possible become the first of them, then
// the rest is tried with the next.
#include "reduce/passes/in_bulk.h"

#include <ATen/ATen.h>

namespace repro_minify {
namespace {

bool alike(const ProgramInput &a, const ProgramInput &b) {
  const auto &x = a.value.toTensor();
  const auto &y = b.value.toTensor();
  return a.role == b.role && x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes() &&
         x.requires_grad() == y.requires_grad();
}

/// Input `from` read as input `into`, an earlier one.
struct Merge {
  size_t from;
  size_t into;
};

/// For each input the one that is alike and has `rank` others of its kind before it.
std::vector<Merge> merges(const std::vector<ProgramInput> &inputs, size_t rank) {
  std::vector<Merge> result;
  for (size_t from = 0; from < inputs.size(); ++from) {
    size_t before = 0;
    for (size_t into = 0; into < from; ++into)
      if (alike(inputs[into], inputs[from]) && before++ == rank) {
        result.push_back({from, into});
        break;
      }
  }
  return result;
}

Program merged(const Program &program, const std::vector<Merge> &merges, const std::vector<size_t> &which) {
  Program result = copy_of(program);
  for (size_t i : which)
    result.graph->inputs()[merges[i].from]->replaceAllUsesWith(result.graph->inputs()[merges[i].into]);
  drop_unused(result);
  return result;
}

bool merge_with(PassContext &context, size_t rank) {
  const Program start = context.current;
  const std::vector<Merge> all = merges(start.inputs, rank);
  return accept_in_bulk(context, all.size(),
                        [&](const std::vector<size_t> &which) { return merged(start, all, which); });
}

} // namespace

bool merge_inputs(PassContext &context) {
  bool any = false;
  for (size_t rank = 0; !merges(context.current.inputs, rank).empty(); ++rank)
    any |= merge_with(context, rank);
  return any;
}

} // namespace repro_minify
