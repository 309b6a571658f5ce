// torch.testing.assert_close of PyTorch 2.13.0, step by step, by the same ATen calls; and its sibling that knows no
// tolerance at all. docs/comparison.md says both in prose.
#include "check/compare_tensors.h"

#include "check/compare_values.h"

#include <ATen/ATen.h>

#include <cmath>

namespace repro_minify {
namespace {

/// Two tensors that stand for two others, or for a part of them.
struct TensorPair {
  at::Tensor ref, res;
};

/// Compares all that can be compared without looking at an element. True if the elements can be compared.
bool attributes_match(const at::Tensor &ref, const at::Tensor &res, const CompareOptions &options,
                      TensorVerdict &verdict) {
  bool comparable = true;
  const auto mismatch = [&](FailureKind kind, const char *what, const auto &expected, const auto &found) {
    fail(verdict, kind, text(what, " ", expected, " expected, ", found, " found"));
    comparable = false;
  };
  if (ref.sizes() != res.sizes())
    mismatch(FailureKind::Shape, "shape", ref.sizes(), res.sizes());
  if (ref.layout() != res.layout())
    mismatch(FailureKind::Structure, "layout", ref.layout(), res.layout());
  if (ref.device() != res.device())
    mismatch(FailureKind::Structure, "device", ref.device(), res.device());
  if (ref.is_quantized() != res.is_quantized())
    mismatch(FailureKind::Structure, "quantised", ref.is_quantized(), res.is_quantized());
  else if (ref.is_quantized() && ref.qscheme() != res.qscheme())
    mismatch(FailureKind::Structure, "quantiser", at::toString(ref.qscheme()), at::toString(res.qscheme()));
  if (options.exact_dtype && ref.scalar_type() != res.scalar_type())
    fail(verdict, FailureKind::Dtype,
         text("dtype ", dtype_name(ref.scalar_type()), " expected, ", dtype_name(res.scalar_type()), " found"));
  if (comparable && options.rule == CompareRule::Exact && strides_differ(form_of(ref), form_of(res)))
    fail(verdict, FailureKind::Structure, text("strides ", ref.strides(), " expected, ", res.strides(), " found"));
  return comparable;
}

bool equal_indices(const TensorPair &pair) {
  return pair.ref.sizes() == pair.res.sizes() && at::equal(pair.ref.to(at::kLong), pair.res.to(at::kLong));
}

/// The indices of two tensors of one sparse layout: what is not where it should be is no matter of a tolerance.
bool places_match(const at::Tensor &ref, const at::Tensor &res) {
  if (ref.layout() == at::kSparse)
    return ref.sparse_dim() == res.sparse_dim() && ref._nnz() == res._nnz() &&
           equal_indices({ref._indices(), res._indices()});
  if (ref._nnz() != res._nnz())
    return false;
  const bool rows = ref.layout() == at::kSparseCsr || ref.layout() == at::kSparseBsr;
  return rows ? equal_indices({ref.crow_indices(), res.crow_indices()}) &&
                    equal_indices({ref.col_indices(), res.col_indices()})
              : equal_indices({ref.ccol_indices(), res.ccol_indices()}) &&
                    equal_indices({ref.row_indices(), res.row_indices()});
}

at::Tensor specified_values(const at::Tensor &tensor) {
  if (tensor.layout() == at::kSparse)
    return tensor._values();
  return is_sparse_layout(tensor) ? tensor.values() : tensor;
}

/// Dense, dequantised, of one dtype that holds both.
TensorPair comparable_pair(const at::Tensor &ref, const at::Tensor &res) {
  TensorPair pair{specified_values(ref.detach()), specified_values(res.detach())};
  if (ref.scalar_type() == res.scalar_type() && !ref.is_quantized() && pair.ref.layout() == at::kStrided)
    return {pair.ref.resolve_conj().resolve_neg(), pair.res.resolve_conj().resolve_neg()};
  pair = {plain(pair.ref), plain(pair.res)};
  const at::ScalarType type = at::promote_types(pair.ref.scalar_type(), pair.res.scalar_type());
  return {pair.ref.to(type), pair.res.to(type)};
}

/// The bits of each element, as an integer.
at::Tensor bits_of(const at::Tensor &tensor) {
  switch (tensor.element_size()) {
  case 1:
    return tensor.view(at::kByte);
  case 2:
    return tensor.view(at::kShort);
  case 4:
    return tensor.view(at::kInt);
  default:
    return tensor.view(at::kLong);
  }
}

at::Tensor equal_bits(const TensorPair &pair) {
  const at::Tensor same = bits_of(pair.ref) == bits_of(pair.res);
  if (!at::isFloatingType(pair.ref.scalar_type()))
    return same;
  return same.logical_or(plain(pair.ref).isnan().logical_and(plain(pair.res).isnan()));
}

at::Tensor close_elements(const TensorPair &pair, const Tolerances &tolerances, bool equal_nan) {
  if (!pair.ref.is_floating_point() && !pair.ref.is_complex() && tolerances.rtol == 0 && tolerances.atol == 0)
    return equal_bits(pair); // the same, for every type
  return at::isclose(plain(pair.res), plain(pair.ref), tolerances.rtol, tolerances.atol, equal_nan);
}

/// An element of which a NaN or an infinity is wrong is of another kind than one that is merely off.
void report_wrong(const TensorPair &pair, const at::Tensor &same, const std::string &how, TensorVerdict &verdict) {
  const at::Tensor wrong = same.logical_not();
  const auto count = wrong.sum().item<std::int64_t>();
  if (count == 0)
    return;
  const TensorPair numbers{plain(pair.ref), plain(pair.res)};
  const at::Tensor finite = at::isfinite(numbers.ref).logical_and(at::isfinite(numbers.res));
  if (wrong.logical_and(finite.logical_not()).any().item<bool>())
    fail(verdict, FailureKind::Nan, "");
  if (wrong.logical_and(finite).any().item<bool>())
    fail(verdict, FailureKind::Accuracy, "");
  std::string note;
  if (wrong.logical_and(numbers.ref.isnan()).logical_and(numbers.res.isnan()).any().item<bool>())
    note = ", NaN not being equal to NaN (--equal-nan)";
  else if (wrong.logical_and(numbers.ref != numbers.res).logical_not().all().item<bool>())
    note = ": zeros of the other sign";
  verdict.message += text(verdict.message.empty() ? "" : "; ", count, " of ", same.numel(), " elements ", how, note);
}

void compare_elements_closely(const at::Tensor &ref, const at::Tensor &res, const CompareOptions &options,
                              TensorVerdict &verdict) {
  const bool floating = ref.is_floating_point() || ref.is_complex() || ref.is_quantized();
  if (options.ignore_non_fp && !floating)
    return;
  TensorPair pair = comparable_pair(ref, res);
  if (options.rule == CompareRule::Close) {
    const Tolerances tolerances = close_tolerances(options, ref.scalar_type(), res.scalar_type());
    return report_wrong(pair, close_elements(pair, tolerances, options.equal_nan),
                        text("not close (rtol ", tolerances.rtol, ", atol ", tolerances.atol, ")"), verdict);
  }
  pair = {real_view(pair.ref), real_view(pair.res)};
  report_wrong(pair, equal_bits(pair), "not equal bit for bit", verdict);
}

} // namespace

Tolerances tolerances_by_dtype(at::ScalarType a, at::ScalarType b) {
  const auto of = [](at::ScalarType type) -> Tolerances {
    if (at::isQIntType(type))
      type = at::kFloat;
    if (at::isComplexType(type))
      type = at::toRealValueType(type);
    switch (type) {
    case at::kHalf:
      return {1e-3, 1e-5};
    case at::kBFloat16:
      return {1.6e-2, 1e-5};
    case at::kFloat:
      return {1.3e-6, 1e-5};
    case at::kDouble:
      return {1e-7, 1e-7};
    default:
      return {};
    }
  };
  return {std::max(of(a).rtol, of(b).rtol), std::max(of(a).atol, of(b).atol)};
}

Tolerances close_tolerances(const CompareOptions &options, at::ScalarType a, at::ScalarType b) {
  return options.tol_by_dtype ? tolerances_by_dtype(a, b) : Tolerances{options.tol, options.tol};
}

TensorVerdict compare_close(const at::Tensor &ref, const at::Tensor &res, const CompareOptions &options) {
  TensorVerdict verdict;
  try {
    if (hold_no_values(ref, res, verdict) || !attributes_match(ref, res, options, verdict))
      return verdict;
    if (is_sparse_layout(ref) && !places_match(ref, res))
      fail(verdict, FailureKind::Structure, "its specified elements are in other places");
    else
      compare_elements_closely(ref, res, options, verdict);
    if (options.exact_dtype && ref.scalar_type() != res.scalar_type())
      blame_dtype(ref, res, verdict);
  } catch (const std::exception &error) {
    fail(verdict, FailureKind::Structure, unless_out_of_memory(error));
  }
  std::sort(verdict.kinds.begin(), verdict.kinds.end());
  return verdict;
}

bool are_close(const at::Tensor &ref, const at::Tensor &res) {
  CompareOptions options;
  options.rule = CompareRule::Close;
  options.tol_by_dtype = options.equal_nan = true;
  options.exact_dtype = false;
  return compare_close(ref, res, options).same;
}

bool agree_within_coarser(const at::Tensor &ref, const at::Tensor &res) {
  const Tolerances tolerances = tolerances_by_dtype(ref.scalar_type(), res.scalar_type());
  const at::Tensor expected = real_view(plain(ref)).to(at::kDouble), found = real_view(plain(res)).to(at::kDouble);
  if (expected.sizes() != found.sizes()) // complex against real
    return false;
  // Where a sum has cancelled, what is left over is as inexact as what went into it.
  const at::Tensor finite = at::where(expected.isfinite(), expected, at::zeros_like(expected));
  const double typical = finite.numel() == 0 ? 0.0 : finite.square().mean().sqrt().item<double>();
  return at::allclose(found, expected, tolerances.rtol, tolerances.atol + tolerances.rtol * typical,
                      /*equal_nan=*/true);
}

} // namespace repro_minify
