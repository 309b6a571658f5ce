#include "check/compare_runs.h"

#include "check/compare_close.h"
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
LeafReport unchanged_leaf(const std::string &name, const std::string &type) {
  LeafReport leaf;
  leaf.path = name;
  leaf.ref_type = leaf.res_type = type;
  return leaf;
}

/// Where rounding is a failure, a wrong whole number is another one: no search may end at what is only rounded.
std::string what_is_wrong(const LeafReport &leaf, FailureKind kind, const CompareOptions &options) {
  const bool rounding_fails = options.rule == CompareRule::Exact || options.rule == CompareRule::Close;
  const auto &type = leaf.ref_type;
  const bool is_whole = type.starts_with("int") || type.starts_with("uint") || type.starts_with("bool");
  return kind == FailureKind::Accuracy && rounding_fails && is_whole ? "whole numbers" : "";
}

/// Compares one aspect of two runs; adds the Signatures it shows. `unchanged`: see unchanged_in_both().
bool compare_lists(const std::string &where, const std::vector<std::string> &names, const std::vector<c10::IValue> &ref,
                   const std::vector<c10::IValue> &res, const std::vector<c10::IValue> *fp64,
                   const CompareOptions &options, std::vector<LeafReport> &leaves, std::vector<Signature> &signatures,
                   const std::vector<std::string> &unchanged = {}) {
  bool all = true;
  for (size_t i = 0; i < ref.size(); ++i) {
    if (i < unchanged.size() && !unchanged[i].empty()) {
      leaves.push_back(unchanged_leaf(names[i], unchanged[i]));
      continue;
    }
    const size_t first = leaves.size();
    const std::optional<c10::IValue> reference =
        fp64 && i < fp64->size() ? std::optional<c10::IValue>((*fp64)[i]) : std::nullopt;
    all &= same(ref[i], i < res.size() ? res[i] : c10::IValue(), reference, options, &leaves);
    for (size_t leaf = first; leaf < leaves.size(); ++leaf) {
      leaves[leaf].path = names.empty() ? leaves[leaf].path : names[i] + leaves[leaf].path;
      for (FailureKind kind : leaves[leaf].kinds) {
        if (where == "gradient" && (kind == FailureKind::Accuracy || kind == FailureKind::Structure))
          kind = FailureKind::Gradient;
        const Signature signature{kind, where, what_is_wrong(leaves[leaf], kind, options)};
        if (std::find(signatures.begin(), signatures.end(), signature) == signatures.end())
          signatures.push_back(signature);
      }
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

/// Where a failure shows before what it is: an output is more telling than a gradient, a gradient than a buffer.
void order_signatures(std::vector<Signature> &signatures) {
  const auto rank = [](const Signature &s) { return s.where == "output" ? 0 : s.where == "gradient" ? 1 : 2; };
  std::stable_sort(signatures.begin(), signatures.end(), [&](const Signature &a, const Signature &b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.kind < b.kind;
  });
}

} // namespace

std::string nearer_to_fp64(const Verdict &verdict) {
  const std::pair<const char *, const std::vector<LeafReport> *> aspects[] = {
      {"output", &verdict.outputs}, {"gradient of ", &verdict.gradients}, {"", &verdict.state}};
  for (const auto &[what, leaves] : aspects)
    for (const auto &leaf : *leaves)
      if (leaf.nearer_to_fp64)
        return what + leaf.path;
  return "";
}

std::string worst_message(const Verdict &verdict) {
  for (const auto *leaves : {&verdict.outputs, &verdict.gradients, &verdict.state})
    for (const auto &leaf : *leaves)
      if (!leaf.same)
        return (leaves == &verdict.gradients ? "gradient of " : "") + leaf.message;
  return "";
}

bool same_bits(const Observed &one, const Observed &other) {
  return all_results(one, other, same_bits_in);
}

bool float64_has_no_say(const Observed &ref, const Observed &res, const CompareOptions &options) {
  // Above the tolerances of assert_close for float32; the strict rule has the reference in each element's bound.
  const bool close_will_do = options.rule != CompareRule::Strict && options.tol >= 1e-5;
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
  bool all = compare_lists("output", {}, ref_output, res_output, fp64 ? &fp64_output : nullptr, options,
                           verdict.outputs, verdict.signatures);
  all &= compare_lists("gradient", ref.gradient_names, ref.gradients, res.gradients, fp64 ? &fp64->gradients : nullptr,
                       options, verdict.gradients, verdict.signatures);
  all &= compare_lists("state", ref.state_names, ref.state, res.state, fp64 ? &fp64->state : nullptr, options,
                       verdict.state, verdict.signatures, unchanged_in_both(ref, res));
  // A row for each parameter that nobody wrote to is no news.
  std::erase_if(verdict.state,
                [](const LeafReport &leaf) { return leaf.same && leaf.path.rfind("parameter ", 0) == 0; });
  order_signatures(verdict.signatures);
  return all;
}

} // namespace repro_minify
