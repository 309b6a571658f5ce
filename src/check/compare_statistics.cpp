#include "check/compare_tensors.h"

#include "core/number_text.h"
#include "core/text.h"

#include <ATen/ATen.h>

#include <cmath>

namespace repro_minify {
namespace {

/// Both sides on the CPU; if one of them is complex, a real and an imaginary part for each element.
struct FlatPair {
  at::Tensor ref, res;
  std::int64_t parts;
};

at::Tensor flat_parts(const at::Tensor &tensor, bool complex) {
  const at::Tensor here = plain(tensor).to(at::kCPU);
  return real_view(complex ? here.to(at::kComplexDouble) : here).reshape({-1});
}

FlatPair flat_pair(const at::Tensor &ref, const at::Tensor &res) {
  const bool complex = ref.is_complex() || res.is_complex();
  return {flat_parts(ref, complex), flat_parts(res, complex), complex ? 2 : 1};
}

std::int64_t count(const at::Tensor &mask) {
  return mask.sum().item<std::int64_t>();
}

double element(const at::Tensor &flat, std::int64_t index) {
  return flat[index].to(at::kDouble).item<double>();
}

/// Returns the first index for which `wrong` is true; -1 where there is none.
template <typename Wrong> std::int64_t first_index(const FlatPair &pair, Wrong wrong) {
  std::int64_t found = -1;
  for_each_block(std::array{pair.ref, pair.res}, [&](const auto &block, std::int64_t first) {
    const at::Tensor odd = wrong(block[0].to(at::kDouble), block[1].to(at::kDouble));
    if (odd.any().template item<bool>())
      found = first + odd.to(at::kByte).argmax().template item<std::int64_t>();
    return found < 0;
  });
  return found;
}

/// True where only one side has a NaN or an infinity, or they are of two sorts.
at::Tensor odd_specials(const at::Tensor &a, const at::Tensor &b) {
  return at::isfinite(a).logical_and(at::isfinite(b)).logical_not().logical_and(a != b);
}

at::Tensor zeros_of_other_signs(const at::Tensor &a, const at::Tensor &b) {
  return (a == b).logical_and(a.signbit() != b.signbit());
}

/// "1.5 expected, 2 found"
std::string both(double expected, double found) {
  const auto [of_ref, of_res] = differing_texts(expected, found, 4);
  return of_ref + " expected, " + of_res + " found";
}

bool has_kind(const LeafReport &report, FailureKind kind) {
  return std::find(report.kinds.begin(), report.kinds.end(), kind) != report.kinds.end();
}

/// Returns how many NaNs and infinities each side has, and where they begin to differ: "NaN 0 expected, 1 found, Inf 0
/// expected, 0 found; first at [3]: 1.5 expected, nan found".
std::string special_values(const LeafReport &report, const std::vector<std::int64_t> &sizes) {
  std::ostringstream out;
  out << "NaN " << report.ref_nan << " expected, " << report.res_nan << " found, Inf " << report.ref_inf
      << " expected, " << report.res_inf << " found";
  if (report.special_index >= 0)
    out << "; first at " << position_text(report.special_index, sizes) << ": "
        << both(report.ref_special, report.res_special);
  return out.str();
}

/// Finds the first place where NaNs and infinities differ.
void find_specials(const FlatPair &pair, LeafReport &report) {
  if (report.ref_nan + report.ref_inf + report.res_nan + report.res_inf == 0)
    return;
  std::int64_t index = first_index(pair, [](const at::Tensor &a, const at::Tensor &b) {
    return odd_specials(a, b).logical_and(a.isnan().logical_and(b.isnan()).logical_not());
  });
  if (index < 0) // NaN on both sides, and NaN was not to equal NaN
    index = first_index(pair, odd_specials);
  if (index < 0)
    return;
  report.special_index = index / pair.parts;
  report.ref_special = element(pair.ref, index);
  report.res_special = element(pair.res, index);
}

/// Counts the NaNs and infinities of one side.
void count_specials(const at::Tensor &flat, std::int64_t &nan, std::int64_t &inf) {
  nan = inf = 0;
  for_each_block(std::array{flat}, [&](const auto &block, std::int64_t) {
    nan += count(block[0].isnan());
    inf += count(block[0].isinf());
    return true;
  });
}

bool is_integral(const at::Tensor &tensor) {
  return at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
}

/// Adds the errors of a block, where both sides are finite, to the report. `first` is the index of its first element;
/// `worst` becomes the index of the largest error so far.
void add_errors(const at::Tensor &one, const at::Tensor &other, std::int64_t first, LeafReport &report,
                std::int64_t &worst) {
  const at::Tensor a = one.to(at::kDouble), b = other.to(at::kDouble);
  at::Tensor apart = (a - b).abs();
  if (is_integral(one) && is_integral(other))
    apart = at::maximum(apart, (one != other).to(at::kDouble)); // as doubles, numbers beyond 2^53 may be the same
  const at::Tensor finite = at::isfinite(a).logical_and(at::isfinite(b));
  const at::Tensor error = at::where(finite, apart, at::full({}, -1.0, at::kDouble));
  const auto index = error.argmax().item<std::int64_t>();
  const double largest = element(error, index);
  if (largest < 0)
    return; // not one element is finite on both sides
  if (worst < 0 || largest > report.max_abs_error) {
    report.max_abs_error = largest;
    worst = first + index;
  }
  const at::Tensor nonzero = finite.logical_and(a != 0);
  if (!nonzero.any().item<bool>())
    return;
  const double relative = at::where(nonzero, error / a.abs(), at::zeros({}, at::kDouble)).max().item<double>();
  report.max_rel_error = std::isnan(report.max_rel_error) ? relative : std::max(report.max_rel_error, relative);
}

} // namespace

void add_statistics(const at::Tensor &ref, const at::Tensor &res, LeafReport &report) {
  const FlatPair pair = flat_pair(ref, res);
  count_specials(pair.ref, report.ref_nan, report.ref_inf);
  count_specials(pair.res, report.res_nan, report.res_inf);
  if (ref.sizes() != res.sizes() || pair.ref.numel() == 0)
    return;
  if (!report.same)
    find_specials(pair, report);
  std::int64_t worst = -1;
  for_each_block(std::array{pair.ref, pair.res}, [&](const auto &block, std::int64_t first) {
    add_errors(block[0], block[1], first, report, worst);
    return true;
  });
  if (report.max_abs_error == 0)
    worst = report.same ? -1 : first_index(pair, zeros_of_other_signs);
  if (worst < 0)
    return;
  report.worst_index = worst / pair.parts;
  report.ref_at_worst = element(pair.ref, worst);
  report.res_at_worst = element(pair.res, worst);
}

std::string difference_message(const at::Tensor &ref, const std::string &reason, const LeafReport &report) {
  std::ostringstream out;
  out.precision(4);
  if (!report.path.empty())
    out << report.path << ": ";
  out << report.ref_type << ": " << reason;
  if (has_kind(report, FailureKind::Nan))
    out << (reason.empty() ? "" : "; ") << special_values(report, ref.sizes().vec());
  if (has_kind(report, FailureKind::Accuracy) && report.worst_index >= 0)
    out << "; largest error " << report.max_abs_error << " at " << position_text(report.worst_index, ref.sizes().vec())
        << ": " << both(report.ref_at_worst, report.res_at_worst);
  return out.str();
}

} // namespace repro_minify
