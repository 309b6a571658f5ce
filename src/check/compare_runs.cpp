#include "check/compare_runs.h"

#include "check/compare_tensors.h"
#include "check/initial_state.h"
#include "check/verdict_text.h"
#include "program/executor.h"
#include "program/shared_pages.h"
#include "program/values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace repro_minify {
namespace {

/// The types of the values that neither side wrote to, in their places.
std::vector<std::string> unchanged_in_both(const Observed &ref, const Observed &res) {
  std::vector<std::string> types(ref.state.size());
  for (size_t i = 0; i < std::min(ref.unchanged.size(), res.unchanged.size()); ++i)
    if (!res.unchanged[i].empty())
      types[i] = ref.unchanged[i];
  return types;
}

/// A row without numbers: there is nothing to compare.
LeafReport unchanged_leaf(const std::string &type) {
  LeafReport leaf;
  leaf.ref_type = leaf.res_type = type;
  return leaf;
}

/// The results of two runs in one place.
struct Aspect {
  std::string where; ///< as in a Signature
  const std::vector<c10::IValue> &ref, &res;
  const std::vector<c10::IValue> *fp64;
  std::function<void(size_t, LeafReport &)> describe = {}; ///< says whose a leaf of the value at this index is
  std::vector<std::string> unchanged = {};                 ///< see unchanged_in_both()
  size_t of_no_interest = 0;                               ///< the first so many are reported only where they differ
};

/// Adds the leaves, and the Signatures that they show.
bool compare_aspect(const Aspect &aspect, const CompareOptions &options, std::vector<LeafReport> &leaves,
                    std::vector<Signature> &signatures) {
  bool all = true;
  for (size_t i = 0; i < aspect.ref.size(); ++i) {
    std::vector<LeafReport> found;
    if (i < aspect.unchanged.size() && !aspect.unchanged[i].empty()) {
      found = {unchanged_leaf(aspect.unchanged[i])};
    } else {
      const auto reference = aspect.fp64 && i < aspect.fp64->size() ? std::optional((*aspect.fp64)[i]) : std::nullopt;
      all &= same(aspect.ref[i], i < aspect.res.size() ? aspect.res[i] : c10::IValue(), reference, options, &found);
    }
    for (LeafReport &leaf : found) {
      if (leaf.same && i < aspect.of_no_interest)
        continue;
      if (aspect.describe)
        aspect.describe(i, leaf);
      for (const Signature &signature : signatures_of(leaf, aspect.where, options.rule))
        if (std::find(signatures.begin(), signatures.end(), signature) == signatures.end())
          signatures.push_back(signature);
      leaves.push_back(std::move(leaf));
    }
  }
  return all;
}

bool plain_and_dense(const at::Tensor &tensor) {
  return tensor.layout() == at::kStrided && tensor.is_cpu() && !tensor.is_quantized() &&
         tensor.is_non_overlapping_and_dense() && !tensor.is_conj() && !tensor.is_neg();
}

bool same_bits_in(const at::Tensor &one, const at::Tensor &other) {
  if (!one.defined() || !other.defined())
    return one.defined() == other.defined();
  if (one.is_nested() || other.is_nested())
    return false;
  if (!plain_and_dense(one) || !plain_and_dense(other) || one.scalar_type() != other.scalar_type() ||
      one.sizes() != other.sizes() ||
      !(one.strides() == other.strides() || (one.is_contiguous() && other.is_contiguous())))
    return false;
  return one.numel() == 0 || std::memcmp(one.const_data_ptr(), other.const_data_ptr(), one.nbytes()) == 0;
}

using SameTensors = std::function<bool(const at::Tensor &, const at::Tensor &)>;

/// False for what is neither None nor a tensor.
bool all_leaves(const std::vector<c10::IValue> &one, const std::vector<c10::IValue> &other, const SameTensors &same) {
  std::vector<c10::IValue> x, y;
  for (const auto &value : one)
    flatten_value(value, x);
  for (const auto &value : other)
    flatten_value(value, y);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](const c10::IValue &a, const c10::IValue &b) {
    if (a.isNone() && b.isNone()) // None, or a value that neither side wrote to
      return true;
    return a.isTensor() && b.isTensor() && same(a.toTensor(), b.toTensor());
  });
}

bool all_results(const Observed &one, const Observed &other, const SameTensors &same) {
  return all_leaves({one.output}, {other.output}, same) && all_leaves(one.gradients, other.gradients, same) &&
         all_leaves(one.state, other.state, same);
}

bool close_or_same_bits(const at::Tensor &one, const at::Tensor &other) {
  return same_bits_in(one, other) || (one.defined() && other.defined() && one.is_floating_point() &&
                                      one.scalar_type() == other.scalar_type() && are_close(one, other));
}

/// Where a failure shows before what it is: an output is more telling than a gradient, a gradient than a buffer. A
/// value of another dtype is wrong in its dtype, whatever it is.
void order_signatures(Verdict &verdict) {
  auto &signatures = verdict.signatures;
  const auto rank = [](const Signature &s) { return s.where == "output" ? 0 : s.where == "gradient" ? 1 : 2; };
  std::stable_sort(signatures.begin(), signatures.end(), [&](const Signature &a, const Signature &b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.kind < b.kind;
  });
  if (signatures.empty() || !comes_of_dtypes(verdict, signatures.front()))
    return;
  const Signature dtype{FailureKind::Dtype, signatures.front().where, ""};
  std::erase(signatures, dtype);
  signatures.insert(signatures.begin(), dtype);
}

} // namespace

std::string nearer_to_fp64(const Verdict &verdict) {
  return first_leaf(verdict, [](const LeafReport &leaf) { return leaf.nearer_to_fp64; }).first;
}

std::string worst_message(const Verdict &verdict) {
  if (verdict.signatures.empty())
    return "";
  const Signature &failure = verdict.signatures.front();
  const LeafReport *leaf = leaf_showing(verdict, failure);
  return leaf ? (failure.where == "gradient" ? "gradient of " : "") + leaf->message : "";
}

bool same_bits(const Observed &one, const Observed &other) {
  return all_results(one, other, same_bits_in);
}

bool float64_has_no_say(const Observed &ref, const Observed &res, const CompareOptions &options) {
  // Above the tolerances of assert_close for float32; the strict rule has the reference in each element's bound.
  // Without one, PyTorch's ignore_non_fp lets anything pass.
  const bool close_will_do = options.rule != CompareRule::Strict && options.tol >= 1e-5 &&
                             !(options.rule == CompareRule::PyTorch && options.ignore_non_fp);
  return all_results(ref, res, close_will_do ? close_or_same_bits : same_bits_in);
}

bool compare_runs(const Observed &ref, const Observed &res, const Observed *fp64, const CompareOptions &options,
                  Verdict &verdict) {
  verdict.outputs.clear();
  verdict.gradients.clear();
  verdict.state.clear();
  verdict.signatures.clear();
  const std::vector<c10::IValue> ref_output{ref.output}, res_output{res.output};
  const auto fp64_output = fp64 ? std::vector<c10::IValue>{fp64->output} : std::vector<c10::IValue>{};
  const auto of_gradient = [&](size_t i, LeafReport &leaf) {
    leaf.path = ref.gradient_names[i] + leaf.path;
    leaf.argument = ref.gradient_arguments[i];
  };
  const size_t of_the_module = ref.parameters + ref.buffers;
  const auto of_state = [&](size_t i, LeafReport &leaf) {
    leaf.path = ref.state_names[i] + leaf.path;
    leaf.argument = i < of_the_module ? -1 : static_cast<int>(i - of_the_module);
  };
  bool all = compare_aspect({"output", ref_output, res_output, fp64 ? &fp64_output : nullptr}, options, verdict.outputs,
                            verdict.signatures);
  all &= compare_aspect({"gradient", ref.gradients, res.gradients, fp64 ? &fp64->gradients : nullptr, of_gradient},
                        options, verdict.gradients, verdict.signatures);
  all &= compare_aspect({"state", ref.state, res.state, fp64 ? &fp64->state : nullptr, of_state,
                         unchanged_in_both(ref, res), /*of_no_interest=*/ref.parameters},
                        options, verdict.state, verdict.signatures);
  order_signatures(verdict);
  return all;
}

RunOptions CheckContext::run_options() const {
  return {.grad = options.grad,
          .state = !options.only_forward && options.mode == CheckMode::Accuracy,
          .module = everything || backend.traits().runs_the_module,
          .boxed = !everything && backend.traits().boxed_call,
          .parameter_gradients = backend.traits().gradients == Gradients::All,
          .operators = true};
}

InstantiateOptions CheckContext::instance_options(bool double_precision) const {
  return {.requires_grad = options.grad, .double_precision = double_precision, .device = options.device};
}

bool CheckContext::compare(Observed &ref, Observed &res, Observed *fp64, const CompareOptions &how,
                           Verdict &verdict) const {
  const auto fresh = [&] { return factory(instance_options()); };
  complete_state(ref, res, fp64, fresh, run_options().module);
  return compare_runs(ref, res, fp64, how, verdict);
}

Observed CheckContext::run_optimised(int calls) const {
  const RunScope scope(run_settings(backend, options));
  Instance instance = factory(instance_options());
  const Compiled compiled = backend.compile(instance.module);
  Observed observed;
  for (int call = 0; call < calls; ++call) {
    scope.begin_run();
    observed = run_program(compiled, instance, run_options());
    scope.end_run();
  }
  return observed;
}

std::vector<Observed> CheckContext::run_eager(int calls, const std::vector<Observed> *like, Fill fill) const {
  RunSettings settings = run_settings(backend, options);
  if (like)
    settings.autocast = false; // a reference that autocast rounds to bfloat16 is none
  const RunScope scope(settings);
  std::vector<Observed> runs;
  std::size_t bytes = 0;
  {
    Instance instance = factory(instance_options(/*double_precision=*/like != nullptr));
    bytes = bytes_of_tensors(instance.module.parameters()) + bytes_of_tensors(instance.module.buffers());
    RunOptions how = run_options();
    const auto before = how.state && !like ? std::make_shared<const InitialState>(instance, how.module) : nullptr;
    const Forward forward = eager_forward(instance.module, /*double_precision=*/like != nullptr);
    for (int call = 0; call < calls; ++call, fill = fill == Fill::Usual ? Fill::Other : Fill::Usual) {
      fill_unwritten_memory(fill);
      how.unchanged = [&](std::size_t place, const c10::IValue &value) {
        return like ? !like->at(static_cast<std::size_t>(call)).unchanged.at(place).empty()
                    : before->still_holds(place, value);
      };
      scope.begin_run();
      runs.push_back(run_program(forward, instance, how));
      scope.end_run();
    }
  }
  give_memory_back(bytes);
  return runs;
}

} // namespace repro_minify
