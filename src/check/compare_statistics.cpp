#include "check/compare_statistics.h"

#include "check/compare_tensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <sstream>

namespace repro_minify {
namespace {

at::Tensor flat_doubles(const at::Tensor &tensor, bool complex) {
  return real_view(plain(tensor).to(at::kCPU, complex ? at::kComplexDouble : at::kDouble)).reshape({-1});
}

/// Both sides as rows of doubles; if one of them is complex, a real and an imaginary part for each element.
struct FlatPair {
  at::Tensor ref, res;
  std::int64_t parts;
};

FlatPair flat_pair(const at::Tensor &ref, const at::Tensor &res) {
  const bool complex = ref.is_complex() || res.is_complex();
  return {flat_doubles(ref, complex), flat_doubles(res, complex), complex ? 2 : 1};
}

std::int64_t count(const at::Tensor &mask) {
  return mask.sum().item<std::int64_t>();
}

double element(const at::Tensor &flat, std::int64_t index) {
  return flat[index].item<double>();
}

/// "[2, 3]" for a row-major index.
std::string position(std::int64_t index, at::IntArrayRef shape) {
  std::vector<std::int64_t> coordinates(shape.size());
  for (std::size_t dim = shape.size(); dim-- > 0; index /= shape[dim])
    coordinates[dim] = index % shape[dim];
  std::ostringstream out;
  out << at::IntArrayRef(coordinates);
  return out.str();
}

bool has(const LeafReport &report, FailureKind kind) {
  return std::find(report.kinds.begin(), report.kinds.end(), kind) != report.kinds.end();
}

/// The first place where one side has a NaN or an infinity that the other has not.
std::string special_values(const at::Tensor &ref, const at::Tensor &res, const LeafReport &report) {
  const auto [a, b, parts] = flat_pair(ref, res);
  const at::Tensor special = at::isfinite(a).logical_and(at::isfinite(b)).logical_not();
  at::Tensor odd = special.logical_and(a != b).logical_and((a.isnan().logical_and(b.isnan())).logical_not());
  if (!odd.any().item<bool>()) // NaN on both sides, and NaN was not to equal NaN
    odd = special.logical_and(a != b);
  std::ostringstream out;
  out.precision(4);
  out << "NaN " << report.ref_nan << " expected, " << report.res_nan << " found, Inf " << report.ref_inf
      << " expected, " << report.res_inf << " found";
  if (odd.any().item<bool>()) {
    const auto index = odd.to(at::kByte).argmax().item<std::int64_t>();
    out << "; first at " << position(index / parts, ref.sizes()) << ": " << element(a, index) << " expected, "
        << element(b, index) << " found";
  }
  return out.str();
}

} // namespace

void add_statistics(const at::Tensor &ref, const at::Tensor &res, LeafReport &report) {
  const auto [a, b, parts] = flat_pair(ref, res);
  report.ref_nan = count(a.isnan());
  report.ref_inf = count(a.isinf());
  report.res_nan = count(b.isnan());
  report.res_inf = count(b.isinf());
  if (ref.sizes() != res.sizes() || a.numel() == 0)
    return;
  const at::Tensor finite = at::isfinite(a).logical_and(at::isfinite(b));
  const at::Tensor error = at::where(finite, (a - b).abs(), at::full({}, -1.0, at::kDouble));
  const auto worst = error.argmax().item<std::int64_t>();
  if (element(error, worst) < 0)
    return; // not one element is finite on both sides
  report.max_abs_error = element(error, worst);
  const at::Tensor nonzero = finite.logical_and(a != 0);
  if (nonzero.any().item<bool>())
    report.max_rel_error = at::where(nonzero, error / a.abs(), at::zeros({}, at::kDouble)).max().item<double>();
  if (report.max_abs_error == 0)
    return;
  report.worst_index = worst / parts;
  report.ref_at_worst = element(a, worst);
  report.res_at_worst = element(b, worst);
}

std::string difference_message(const at::Tensor &ref, const at::Tensor &res, const std::string &reason,
                               const LeafReport &report) {
  std::ostringstream out;
  out.precision(4);
  if (!report.path.empty())
    out << report.path << ": ";
  out << report.ref_type << ": " << reason;
  if (has(report, FailureKind::Nan))
    out << (reason.empty() ? "" : "; ") << special_values(ref, res, report);
  if (has(report, FailureKind::Accuracy) && report.worst_index >= 0)
    out << "; largest error " << report.max_abs_error << " at " << position(report.worst_index, ref.sizes()) << ": "
        << report.ref_at_worst << " expected, " << report.res_at_worst << " found";
  return out.str();
}

} // namespace repro_minify
