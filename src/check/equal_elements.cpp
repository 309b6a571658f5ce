#include "check/equal_elements.h"

#include "check/eager_side.h"
#include "check/verdict_text.h"
#include "core/no_answer.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <exception>
#include <new>

namespace repro_minify {
namespace {

constexpr double units_apart = 8; ///< of the largest element: what a cast to the dtype does not make equal again

/// Returns false for a tensor that stays as it is.
bool move_apart(const at::Tensor &tensor, const at::Generator &generator) {
  const std::optional<double> unit = tensor.defined() ? rounding_unit(tensor.scalar_type()) : std::nullopt;
  if (!unit || tensor.numel() == 0 || tensor.is_complex() || tensor.layout() != at::kStrided ||
      at::has_internal_overlap(tensor) == at::MemOverlap::Yes)
    return false;
  const at::NoGradGuard no_grad;
  const double largest = at::nan_to_num(tensor.to(at::kCPU, at::kDouble), 0, 0, 0).abs().max().item<double>();
  const at::Tensor by = at::rand(tensor.sizes(), generator, at::dtype(at::kDouble));
  tensor.add_(by.mul_(units_apart * *unit * std::max(largest, 1.0)).to(tensor.device(), tensor.scalar_type()));
  return true;
}

/// True for a leaf that shows a failure of whole numbers and no other.
bool is_wrong_whole_number(const LeafReport &leaf) {
  return !leaf.same && is_whole(leaf) && leaf.kinds == std::vector{FailureKind::Accuracy};
}

} // namespace

bool hangs_on_equal_elements(const CheckContext &context, const Verdict &verdict, std::chrono::duration<double> took,
                             Child &child) {
  const LeafReport *leaf = leaf_showing(verdict, verdict.signatures.front());
  if (verdict.signatures.front().where != "output" || !leaf || !is_wrong_whole_number(*leaf))
    return false;
  bool is_moved = false;
  const ModuleFactory apart = [&](const InstantiateOptions &how) {
    Instance instance = context.factory(how);
    const at::Generator generator = at::detail::createCPUGenerator(1);
    for_each_given(instance, [&](const at::Tensor &tensor) { is_moved |= move_apart(tensor, generator); });
    return instance;
  };
  CheckOptions only_outputs = context.options;
  only_outputs.only_forward = true;
  const CheckContext moved{apart, context.backend, only_outputs};
  try {
    const int calls = std::max(1, verdict.failing_call);
    child.stage("eager");
    allow_eager(child, context.options.patience);
    Observed eager = moved.run_eager(calls).back();
    if (!is_moved)
      return false;
    child.stage("optimised");
    allow_optimised(child, context.options.patience, took);
    Observed observed = moved.run_optimised(calls);
    Verdict again;
    moved.compare(eager, observed, nullptr, only_outputs.compare, again);
    return !first_leaf(again, is_wrong_whole_number).second;
  } catch (const NoAnswer &) {
    throw;
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const std::exception &error) { // what fails otherwise says nothing
    unless_out_of_memory(error);
    return false;
  }
}

} // namespace repro_minify
