// The Default rule (PyTorch's with D1 to D4) and the Strict rule for two tensors. docs/comparison.md says both in
// prose.
#include "check/compare_tensors.h"

#include "check/compare_values.h"
#include "core/no_answer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <new>

namespace repro_minify {
namespace {

/// Two results brought to where their elements can be compared: dense, of one shape, one real dtype, on one device.
struct ComparedTensors {
  at::Tensor ref, res;
  at::Tensor fp64_ref; ///< float64, of the same shape; undefined when there is no fp64 reference
  double multiplier = 0;
  bool floating = false;  ///< the eager result was floating or complex before any cast
  bool both_bool = false; ///< PyTorch has a rule of their own for bools, as long as dtypes are compared
};

/// PyTorch raises for tensors on two devices, but lets a 0-d one from the CPU mix with any other.
bool devices_clash(const at::Tensor &ref, const at::Tensor &res, CompareRule rule) {
  if (ref.device() == res.device())
    return false;
  const bool scalar_from_cpu = ref.dim() == 0 && (ref.is_cpu() || res.is_cpu());
  return rule == CompareRule::Strict || !scalar_from_cpu;
}

/// PyTorch does not even look at the layout of bools that it ignores, unless the eager one is sparse.
bool layout_is_ignored(const at::Tensor &ref, const at::Tensor &res, const CompareOptions &options) {
  return options.exact_dtype && options.ignore_non_fp && ref.scalar_type() == at::kBool &&
         res.scalar_type() == at::kBool && !is_sparse_layout(ref);
}

/// Compares all that can be compared without looking at an element. True if the elements can be compared.
bool forms_match(const at::Tensor &ref, const at::Tensor &res, const CompareOptions &options, TensorVerdict &verdict) {
  const bool layouts_differ =
      is_sparse_layout(ref) != is_sparse_layout(res) || (is_sparse_layout(ref) && ref.layout() != res.layout());
  if (hold_no_values(ref, res, verdict))
    return false;
  if (devices_clash(ref, res, options.rule))
    fail(verdict, FailureKind::Structure, text("device ", ref.device(), " expected, ", res.device(), " found"));
  else if (layouts_differ && !layout_is_ignored(ref, res, options))
    fail(verdict, FailureKind::Structure, text("layout ", ref.layout(), " expected, ", res.layout(), " found"));
  bool comparable = verdict.same;
  if (ref.sizes() != res.sizes()) {
    fail(verdict, FailureKind::Shape, text("shape ", ref.sizes(), " expected, ", res.sizes(), " found"));
    comparable = false;
  } else if (comparable && options.rule == CompareRule::Strict && strides_differ(form_of(ref), form_of(res))) {
    fail(verdict, FailureKind::Structure, text("strides ", ref.strides(), " expected, ", res.strides(), " found"));
  }
  return comparable;
}

/// The dtype to compare two different dtypes in. The result's own, so that its rounding is allowed for; but where that
/// would cut the eager value down (2 to True, 2.5 to 2, 1+1j to 1) one that holds both.
at::ScalarType common_type(at::ScalarType ref, at::ScalarType res) {
  if (at::isComplexType(res) || (at::isFloatingType(res) && !at::isComplexType(ref)))
    return res;
  if (at::isComplexType(ref))
    return at::kComplexDouble;
  return at::isFloatingType(ref) ? at::kDouble : at::promote_types(ref, res);
}

/// An fp64 reference of another shape says nothing about this result (D2): then the eager result stands in for it, as
/// it does when there is no reference at all.
at::Tensor usable_reference(const at::Tensor &ref, const at::Tensor &fp64_ref, bool complex) {
  at::Tensor reference = plain(fp64_ref.sizes() == ref.sizes() ? fp64_ref : ref).to(ref.device());
  if (complex && (reference.scalar_type() == at::kDouble || reference.scalar_type() == at::kComplexDouble))
    return real_view(reference.to(at::kComplexDouble));
  return reference.scalar_type() == at::kDouble ? reference : at::Tensor();
}

ComparedTensors operands(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64_ref,
                         const CompareOptions &options) {
  ComparedTensors made;
  made.floating = ref.is_floating_point() || ref.is_complex() || ref.is_quantized();
  made.both_bool = options.exact_dtype && ref.scalar_type() == at::kBool && res.scalar_type() == at::kBool;
  // Exact is exact: as doubles, whole numbers beyond 2^53 would be one.
  const bool by_bits = options.rule == CompareRule::Strict && ref.layout() == at::kStrided &&
                       ref.scalar_type() == at::kUInt64 && res.scalar_type() == at::kUInt64;
  made.ref = by_bits ? ref.detach().view(at::kLong) : plain(ref);
  made.res = (by_bits ? res.detach().view(at::kLong) : plain(res)).to(ref.device());
  // Directions are compared in float32, each side cast by itself.
  const bool directions = options.cos_similarity && options.rule != CompareRule::Strict;
  const at::ScalarType type = options.exact_dtype || directions
                                  ? common_type(made.ref.scalar_type(), made.res.scalar_type())
                                  : made.res.scalar_type();
  if (!by_bits)
    made.fp64_ref = usable_reference(ref, fp64_ref, at::isComplexType(type));
  if (!directions || at::isComplexType(type)) {
    made.ref = real_view(made.ref.to(type));
    made.res = real_view(made.res.to(type));
  }
  made.multiplier = error_multiplier(ref.numel(), ref.sizes(), res.scalar_type(), options);
  return made;
}

/// Where the two agree on a NaN or an infinity (also on its sign).
at::Tensor agreed_specials(const at::Tensor &ref, const at::Tensor &res, bool equal_nan) {
  const at::Tensor infinite = at::isinf(ref).logical_and(ref == res);
  return equal_nan ? infinite.logical_or(at::isnan(ref).logical_and(at::isnan(res))) : infinite;
}

bool specials_agree(const ComparedTensors &o, bool equal_nan) {
  return for_each_block(std::array{o.ref, o.res}, [&](const auto &block, std::int64_t) {
    const auto &[ref, res] = block;
    const at::Tensor finite = at::isfinite(ref).logical_and(at::isfinite(res));
    return finite.logical_or(agreed_specials(ref, res, equal_nan)).all().template item<bool>();
  });
}

/// Where both sides are finite; undefined where they are so everywhere.
at::Tensor finite_in_both(const at::Tensor &ref, const at::Tensor &res) {
  const at::Tensor finite = at::isfinite(ref).logical_and(at::isfinite(res));
  return finite.all().item<bool>() ? at::Tensor() : finite;
}

/// The elements that `mask` selects; all of them where it is undefined.
at::Tensor selected(const at::Tensor &tensor, const at::Tensor &mask) {
  return mask.defined() ? tensor.masked_select(mask) : tensor;
}

bool all_close(const at::Tensor &ref, const at::Tensor &res, double tol, bool equal_nan) {
  return for_each_block(std::array{ref, res}, [&](const auto &block, std::int64_t) {
    return at::allclose(block[0], block[1], tol, tol, equal_nan);
  });
}

bool finite_rest_is_close(const ComparedTensors &o, double tol) {
  return for_each_block(std::array{o.ref, o.res}, [&](const auto &block, std::int64_t) {
    const at::Tensor finite = finite_in_both(block[0], block[1]);
    return at::allclose(selected(block[0], finite), selected(block[1], finite), tol, tol);
  });
}

/// The fp64 reference, and where it is no number the eager result in its place: an element without a reference is still
/// compared.
at::Tensor mended_reference(const at::Tensor &fp64_ref, const at::Tensor &ref) {
  return at::where(at::isfinite(fp64_ref), fp64_ref, ref.to(at::kDouble));
}

double sum_of_squared_errors(const at::Tensor &a, const at::Tensor &b) {
  return at::square(a - b.to(at::kDouble)).sum().item<double>();
}

/// The root mean squared errors of both sides, once NaN and Inf have been left out. A block's sum over the count is
/// at::mean() to the last bit.
void measure_errors(const ComparedTensors &o, TensorVerdict &verdict) {
  double of_ref = 0, of_res = 0, count = 0;
  for_each_block(std::array{o.ref, o.res, o.fp64_ref}, [&](const auto &block, std::int64_t) {
    const auto &[ref, res, fp64_ref] = block;
    const at::Tensor finite = finite_in_both(ref, res);
    const at::Tensor reference = selected(mended_reference(fp64_ref, ref), finite);
    of_ref += sum_of_squared_errors(reference, selected(ref, finite));
    of_res += sum_of_squared_errors(reference, selected(res, finite));
    count += static_cast<double>(reference.numel());
    return true;
  });
  verdict.ref_error = count == 0 ? 0.0 : std::sqrt(of_ref / count);
  verdict.res_error = count == 0 ? 0.0 : std::sqrt(of_res / count);
  verdict.multiplier = o.multiplier;
}

/// Eager came out as NaN or overflowed, the result did not and is near fp64: it is better than what it is compared
/// with.
bool better_than_eager(const ComparedTensors &o, const CompareOptions &options) {
  constexpr double loose = 4e-2;
  return !o.fp64_ref.isnan().any().item<bool>() && !o.res.isnan().any().item<bool>() &&
         !at::isfinite(o.ref).all().item<bool>() &&
         at::allclose(o.fp64_ref.to(o.res.scalar_type()), o.res, loose, loose, options.equal_nan);
}

void compare_bools(const ComparedTensors &o, const CompareOptions &options, TensorVerdict &verdict) {
  if (!options.use_iou_for_bool) {
    if (!at::allclose(o.ref.to(at::kByte), o.res.to(at::kByte), options.tol, options.tol, options.equal_nan))
      fail(verdict, FailureKind::Accuracy, text((o.ref != o.res).sum().item<std::int64_t>(), " elements differ"));
    return;
  }
  const at::Tensor intersection = (o.ref & o.res).sum().to(at::kFloat);
  const at::Tensor united = (o.ref | o.res).sum().to(at::kFloat);
  if (united.item<double>() == 0)
    return;
  const double overlap = (intersection / united).item<double>();
  if (overlap < options.iou_threshold)
    fail(verdict, FailureKind::Accuracy,
         text("intersection over union ", overlap, ", at least ", options.iou_threshold, " wanted"));
}

void compare_directions(const ComparedTensors &o, const CompareOptions &options, TensorVerdict &verdict) {
  const at::Tensor ref = o.ref.flatten().to(at::kFloat);
  const at::Tensor res = o.res.flatten().to(at::kFloat);
  if (at::allclose(ref, res, options.tol, options.tol, /*equal_nan=*/true))
    return;
  const at::Tensor similarity = at::cosine_similarity(ref, res, /*dim=*/0, /*eps=*/1e-6);
  if (similarity.ge(least_cosine).item<bool>())
    return;
  const at::Tensor specials = at::isfinite(ref).logical_and(at::isfinite(res));
  const bool specials_differ = !specials.logical_or(agreed_specials(ref, res, true)).all().item<bool>();
  fail(verdict, specials_differ ? FailureKind::Nan : FailureKind::Accuracy,
       text("cosine similarity ", similarity.item<double>(), ", at least ", least_cosine, " wanted"));
}

/// D3: NaN and Inf must be in the same places, and the finite rest is measured by itself.
void compare_with_reference(const ComparedTensors &o, bool agree_on_specials, const CompareOptions &options,
                            TensorVerdict &verdict) {
  if (!agree_on_specials && better_than_eager(o, options))
    return;
  measure_errors(o, verdict);
  if (!agree_on_specials)
    fail(verdict, FailureKind::Nan, "");
  if (verdict.res_error <= o.multiplier * verdict.ref_error + options.tol / 10.0)
    return;
  fail(verdict, FailureKind::Accuracy,
       text("RMSE ", verdict.res_error, " against fp64 (eager ", verdict.ref_error, ", allowed ", o.multiplier, " x + ",
            options.tol / 10.0, ")"));
}

void compare_values(const ComparedTensors &o, const CompareOptions &options, TensorVerdict &verdict) {
  if (o.both_bool && options.ignore_non_fp)
    return;
  if (o.both_bool)
    return compare_bools(o, options, verdict);
  if (options.cos_similarity)
    return compare_directions(o, options, verdict);
  if (all_close(o.ref, o.res, options.tol, options.equal_nan))
    return;
  const bool agree_on_specials = specials_agree(o, options.equal_nan);
  if (o.fp64_ref.defined())
    return compare_with_reference(o, agree_on_specials, options, verdict);
  if (options.ignore_non_fp && !o.floating) // D1: PyTorch lets any tensor off here
    return;
  if (!agree_on_specials)
    fail(verdict, FailureKind::Nan, "");
  if (!finite_rest_is_close(o, options.tol))
    fail(verdict, FailureKind::Accuracy, text("not close within tol ", options.tol, ", no fp64 reference"));
}

void compare_every_element(const ComparedTensors &o, const CompareOptions &options, TensorVerdict &verdict) {
  if (!o.floating && options.ignore_non_fp)
    return;
  if (!at::isFloatingType(o.res.scalar_type())) {
    if (!at::equal(o.ref, o.res))
      fail(verdict, FailureKind::Accuracy, text((o.ref != o.res).sum().item<std::int64_t>(), " elements differ"));
    return;
  }
  const at::Tensor ref = o.ref.to(at::kDouble);
  const at::Tensor res = o.res.to(at::kDouble);
  const at::Tensor reference = o.fp64_ref.defined() ? mended_reference(o.fp64_ref, o.ref) : ref;
  const at::Tensor ref_noise = (ref - reference).abs();
  const at::Tensor finite_noise = at::where(at::isfinite(ref_noise), ref_noise, at::zeros_like(ref_noise));
  const double noise = finite_noise.numel() == 0 ? 0.0 : finite_noise.max().item<double>();
  verdict.ref_max_error = noise;
  const at::Tensor bound = reference.abs().clamp_min(1.0) * options.tol + o.multiplier * noise;
  // Infinity is within an infinite bound, but no reference to be within a bound of.
  const at::Tensor within = ((res - reference).abs() <= bound).logical_and(at::isfinite(reference));
  const at::Tensor wrong = within.logical_or(agreed_specials(ref, res, options.equal_nan)).logical_not();
  const at::Tensor finite = at::isfinite(ref).logical_and(at::isfinite(res));
  if (wrong.logical_and(finite.logical_not()).any().item<bool>())
    fail(verdict, FailureKind::Nan, "");
  if (const auto count = wrong.logical_and(finite).sum().item<std::int64_t>(); count > 0)
    fail(verdict, FailureKind::Accuracy,
         text(count, " of ", ref.numel(), " elements further from the reference than ", o.multiplier, " x ", noise,
              " + ", options.tol, " x max(1, |reference|)"));
}

void compare_elements(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64_ref,
                      const CompareOptions &options, bool measure, TensorVerdict &verdict) {
  const ComparedTensors o = operands(ref, res, fp64_ref, options);
  if (options.rule == CompareRule::Strict)
    compare_every_element(o, options, verdict);
  else
    compare_values(o, options, verdict);
  if (measure && o.fp64_ref.defined() && std::isnan(verdict.multiplier))
    measure_errors(o, verdict);
}

} // namespace

bool is_sparse_layout(const at::Tensor &tensor) {
  return tensor.layout() != at::kStrided && tensor.layout() != at::kMkldnn && tensor.layout() != at::kJagged;
}

void fail(TensorVerdict &verdict, FailureKind kind, const std::string &reason) {
  verdict.same = false;
  verdict.kinds.push_back(kind);
  if (!reason.empty())
    verdict.message += (verdict.message.empty() ? "" : "; ") + reason;
}

bool hold_no_values(const at::Tensor &ref, const at::Tensor &res, TensorVerdict &verdict) {
  const bool none = ref.is_meta() && res.is_meta();
  if (none)
    fail(verdict, FailureKind::Structure, "on the meta device, where tensors hold no values");
  return none;
}

void blame_dtype(const at::Tensor &ref, const at::Tensor &res, TensorVerdict &verdict) {
  const auto accuracy = std::find(verdict.kinds.begin(), verdict.kinds.end(), FailureKind::Accuracy);
  if (accuracy != verdict.kinds.end() && agree_within_coarser(ref, res))
    verdict.kinds.erase(accuracy);
  if (verdict.kinds == std::vector{FailureKind::Dtype})
    verdict.message = text("dtype ", dtype_name(ref.scalar_type()), " expected, ", dtype_name(res.scalar_type()),
                           " found; the values agree");
}

std::string unless_out_of_memory(const std::exception &error) {
  // Error::what() looks up a whole stack of symbols, which takes longer than the comparison.
  const auto *torch_error = dynamic_cast<const c10::Error *>(&error);
  const std::string all = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  const std::string line = all.substr(0, all.find('\n'));
  if (dynamic_cast<const std::bad_alloc *>(&error) != nullptr ||
      dynamic_cast<const c10::OutOfMemoryError *>(&error) != nullptr || is_out_of_memory(line))
    throw;
  return "comparing raises: " + line;
}

at::Tensor plain(const at::Tensor &tensor) {
  at::Tensor made = tensor.detach();
  if (made.is_quantized())
    made = made.dequantize();
  if (made.layout() != at::kStrided)
    made = made.to_dense();
  made = made.resolve_conj().resolve_neg();
  const at::ScalarType type = made.scalar_type();
  if (type == at::kComplexHalf)
    return made.to(at::kComplexFloat);
  if (at::isFloat8Type(type))
    return made.to(at::kFloat);
  if (type == at::kUInt16 || type == at::kUInt32)
    return made.to(at::kLong);
  return type == at::kUInt64 ? made.to(at::kDouble) : made;
}

at::Tensor real_view(const at::Tensor &tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor.resolve_conj()) : tensor;
}

TensorVerdict compare_tensors(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64_ref,
                              const CompareOptions &options, bool measure) {
  TensorVerdict verdict;
  try {
    const bool comparable = forms_match(ref, res, options, verdict);
    const bool dtypes_differ = options.exact_dtype && ref.scalar_type() != res.scalar_type();
    if (dtypes_differ)
      fail(verdict, FailureKind::Dtype,
           text("dtype ", dtype_name(ref.scalar_type()), " expected, ", dtype_name(res.scalar_type()), " found"));
    if (comparable)
      compare_elements(ref, res, fp64_ref, options, measure, verdict);
    if (comparable && dtypes_differ)
      blame_dtype(ref, res, verdict);
  } catch (const std::exception &error) {
    fail(verdict, FailureKind::Structure, unless_out_of_memory(error));
  }
  std::sort(verdict.kinds.begin(), verdict.kinds.end());
  verdict.kinds.erase(std::unique(verdict.kinds.begin(), verdict.kinds.end()), verdict.kinds.end());
  return verdict;
}

void measure(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64_ref, const CompareOptions &options,
             TensorVerdict &verdict) {
  if (ref.sizes() != res.sizes() || !std::isnan(verdict.multiplier))
    return;
  try {
    const ComparedTensors o = operands(ref, res, fp64_ref, options);
    if (o.fp64_ref.defined())
      measure_errors(o, verdict);
  } catch (const std::exception &error) { // what cannot be compared cannot be measured either
    unless_out_of_memory(error);
  }
}

} // namespace repro_minify
