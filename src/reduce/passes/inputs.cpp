// Inputs: two inputs of the same shape, dtype and role become one; it needs a gradient where one of them does. As many
// as possible become the first of them, then the rest is tried with the next. Where none becomes an earlier one, a
// later one may still do for both.
#include "program/formula.h"
#include "reduce/passes/order.h"
#include "reduce/passes/pass.h"

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>

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

std::optional<Program> contiguous(const Program &program, const std::vector<size_t> &which) {
  Program result = program; // the graph is shared: only values change
  for (size_t i : which) {
    const auto &old = program.inputs[i].value.toTensor();
    result.inputs[i].value = old.detach().clone(at::MemoryFormat::Contiguous).set_requires_grad(old.requires_grad());
  }
  return result;
}

std::optional<Program> without_gradient(const Program &program, const std::vector<size_t> &which) {
  Program result = program; // the graph is shared: only values change
  for (size_t i : which)
    result.inputs[i].value = program.inputs[i].value.toTensor().detach();
  return result;
}

Program as_arguments(const Program &program, const std::vector<size_t> &which) {
  Program result = program; // the graph is shared: roles are not part of it
  for (size_t i : which)
    result.inputs[i].role = Role::Input;
  return result;
}

} // namespace

void merge_inputs(PassContext &context) {
  if (!merge_all(context, /*with_later=*/false))
    merge_all(context, /*with_later=*/true);
}

// Strides: each input contiguous, from the beginning of memory that no other input lives in.

void plain_strides(PassContext &context) {
  std::set<void *> storages;
  const auto irregular = inputs_where(context.current, [&](const ProgramInput &input) {
    const auto &tensor = input.value.toTensor();
    const bool shares = shares_memory(tensor, storages);
    return is_plain(tensor) && (shares || is_irregular(tensor));
  });
  accept_by_halves(context, irregular, contiguous);
}

// Autograd: inputs that need no gradient.

void drop_autograd(PassContext &context) {
  const auto is_differentiable = [](const ProgramInput &input) { return input.value.toTensor().requires_grad(); };
  accept_by_halves(context, inputs_where(context.current, is_differentiable), without_gradient);
}

// Roles: an argument of forward says all about itself in one line, where a parameter, a buffer or a constant of the
// graph needs a module that owns it.

void plain_roles(PassContext &context) {
  const auto owned = inputs_where(context.current, [](const ProgramInput &input) { return input.role != Role::Input; });
  if (owned.size() > 1 && context.try_candidate(as_arguments(context.current, owned)))
    return;
  for (size_t i : owned)
    context.try_candidate(as_arguments(context.current, {i}));
}

} // namespace repro_minify
