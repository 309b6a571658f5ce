// How far eager moves when its inputs do, in their last place, and when its random numbers are others.
#include "check/compare_runs.h"
#include "check/eager_side.h"
#include "check/verdict_text.h"
#include "core/json.h"
#include "core/no_answer.h"
#include "core/text.h"
#include "program/values.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/nature.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

namespace repro_minify {
namespace {

/// Calls `move` for each tensor that a run is given: parameters, buffers, arguments.
template <typename Move> void for_each_given(Instance &instance, const Move &move) {
  for (const at::Tensor &tensor : instance.module.parameters())
    move(tensor);
  for (const at::Tensor &tensor : instance.module.buffers())
    move(tensor);
  for (const c10::IValue &argument : instance.arguments)
    for_each_tensor(argument, move);
}

constexpr int times_moved = 3; ///< one draw of signs can cancel out

/// Moves each number by one unit in the last place, up or down. Tensors of other dtypes, and those that were expanded,
/// stay as they are; an element of overlapping windows is moved once for each.
void move_in_last_place(const at::Tensor &tensor, const at::Generator &generator) {
  const std::optional<double> unit =
      tensor.defined() ? rounding_unit(c10::toRealValueType(tensor.scalar_type())) : std::nullopt;
  if (!unit || tensor.layout() != at::kStrided || at::has_internal_overlap(tensor) == at::MemOverlap::Yes)
    return;
  const at::NoGradGuard no_grad;
  const at::Tensor up_or_down = at::randint(0, 2, tensor.sizes(), generator, at::dtype(at::kDouble)).mul_(2).sub_(1);
  tensor.mul_(up_or_down.mul_(*unit).add_(1).to(tensor.device(), tensor.scalar_type()));
}

/// "aten::add_" without its namespace.
std::string short_name(const std::string &name) {
  const size_t colon = name.rfind(':');
  return name.substr(colon == std::string::npos ? 0 : colon + 1);
}

/// True for an operator that does arithmetic. The others move numbers; among them are those by which a result is
/// copied.
bool computes(const std::string &name) {
  static const auto others = set_of_words("alias as_strided clone contiguous copy_ detach empty empty_like "
                                          "empty_strided expand fill_ lift_fresh ones permute reshape resize_ "
                                          "resolve_conj resolve_neg select set_ slice t to transpose unsqueeze view "
                                          "zeros");
  return !others.contains(short_name(name));
}

/// True for an operator whose result depends on which of several elements comes first.
bool orders_elements(const std::string &name) {
  static const auto names = set_of_words("argmax argmin argsort max min sort topk mode kthvalue median aminmax");
  return names.contains(short_name(name)) || name.find("max_pool") != std::string::npos;
}

/// The leaves of a run of eager, against one that ran over something else.
std::string leaves_against(const Observed &eager, const Observed &other) {
  CompareOptions exactly;
  exactly.rule = CompareRule::Exact;
  exactly.equal_nan = true;
  Verdict verdict;
  verdict.outcome = Verdict::Outcome::Pass; // a failure would need a signature
  compare_runs(eager, other, nullptr, exactly, verdict);
  return to_json(verdict);
}

/// Replies with the operators that eager called, the verdicts of moved runs, and that of a run under another seed.
void answer(Child &child, const ModuleFactory &factory, const Backend &backend, const CheckOptions &options, int call) {
  child.confine(confinement_of(backend));
  const Observed eager = CheckContext{factory, backend, options}.run_eager(call).back();
  json moved = json::array();
  for (int time = 0; time < times_moved; ++time) {
    const at::Generator generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(time) + 1);
    const ModuleFactory other = [&](const InstantiateOptions &how) {
      Instance instance = factory(how);
      for_each_given(instance, [&](const at::Tensor &tensor) { move_in_last_place(tensor, generator); });
      return instance;
    };
    moved.push_back(leaves_against(eager, CheckContext{other, backend, options}.run_eager(call).back()));
  }
  CheckOptions reseeded = options;
  ++reseeded.seed;
  const Observed other = CheckContext{factory, backend, reseeded}.run_eager(call).back();
  child.reply(
      json{{"operators", eager.operators}, {"moved", moved}, {"reseeded", leaves_against(eager, other)}}.dump());
}

/// How far the element moved that did most, in the place of `leaf`.
double change_in(const std::string &verdict_text, const Signature &failure, const LeafReport &leaf) {
  const Verdict verdict = verdict_from_json(verdict_text);
  const auto &leaves = leaves_at(verdict, failure.where);
  const auto same_place = [&](const LeafReport &each) { return each.path == leaf.path; };
  const auto found = std::find_if(leaves.begin(), leaves.end(), same_place);
  if (found == leaves.end())
    return std::numeric_limits<double>::quiet_NaN();
  return std::isnan(found->max_abs_error) ? 0 : found->max_abs_error;
}

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

Movement movement_of_eager(const ModuleFactory &factory, std::shared_ptr<const Backend> backend,
                           const CheckOptions &options, const Verdict &verdict, const Signature &failure,
                           const Limits &limits) {
  const LeafReport *leaf = leaf_showing(verdict, failure);
  if (!leaf || !is_comparison(failure.kind))
    return {};
  const int call = std::max(1, verdict.failing_call);
  const JobEnd job_end = run_in_sandbox([&](Child &child) { answer(child, factory, *backend, options, call); }, limits);
  if (job_end.ending != Ending::Replied)
    return {};
  const json reply = json::parse(job_end.reply);
  Movement movement;
  for (const auto &[name, calls] : reply.at("operators").get<OperatorCalls>()) {
    movement.operators += computes(name) ? calls : 0;
    movement.orders |= orders_elements(name);
  }
  movement.by_rounding = 0;
  movement.by_seed = change_in(reply.at("reseeded"), failure, *leaf);
  for (const std::string text : reply.at("moved"))
    movement.by_rounding = std::max(movement.by_rounding, change_in(text, failure, *leaf));
  return movement;
}

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
