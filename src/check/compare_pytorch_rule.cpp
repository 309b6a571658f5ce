// torch._dynamo.utils.same of PyTorch 2.13.0 for two tensors, step by step, by the same ATen calls: that is what makes
// the answers agree to the last bit, and the calls raise where PyTorch's raise.
#include "check/compare_tensors.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <cmath>

namespace repro_minify {
namespace {

bool bools_are_same(const at::Tensor &ref, const at::Tensor &res, const CompareOptions &options) {
  if (options.ignore_non_fp)
    return true;
  if (options.use_iou_for_bool) {
    const at::Tensor intersection = (ref & res).sum().to(at::kFloat);
    const at::Tensor united = (ref | res).sum().to(at::kFloat);
    if (united.item<double>() == 0)
      return intersection.item<double>() == 0;
    return (intersection / united).item<double>() >= options.iou_threshold;
  }
  return at::allclose(ref.to(at::kByte), res.to(at::kByte), options.tol, options.tol, options.equal_nan);
}

bool point_the_same_way(const at::Tensor &ref, const at::Tensor &res, const CompareOptions &options) {
  const at::Tensor flat_ref = ref.flatten().to(at::kFloat);
  const at::Tensor flat_res = res.flatten().to(at::kFloat);
  if (at::allclose(flat_ref, flat_res, options.tol, options.tol, /*equal_nan=*/true))
    return true;
  return at::cosine_similarity(flat_ref, flat_res, /*dim=*/0, /*eps=*/1e-6).ge(least_cosine).item<bool>();
}

at::Tensor rmse_as_pytorch_has_it(const at::Tensor &a, const at::Tensor &b) {
  return at::sqrt(at::mean(at::square(a - b)));
}

bool near_enough_to_fp64(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64_ref,
                         const CompareOptions &options) {
  constexpr double loose = 4e-2;
  if (!fp64_ref.isnan().any().item<bool>() && !res.isnan().any().item<bool>() && ref.isnan().any().item<bool>() &&
      at::allclose(fp64_ref.to(res.scalar_type()), res, loose, loose, options.equal_nan))
    return true;
  const at::Tensor ref_rmse = rmse_as_pytorch_has_it(fp64_ref, ref);
  const at::Tensor res_rmse = rmse_as_pytorch_has_it(fp64_ref, res);
  if (ref_rmse.is_complex() || res_rmse.is_complex())
    return false; // math.isnan raises
  const double ref_error = ref_rmse.item<double>();
  const double res_error = res_rmse.item<double>();
  const double multiplier = error_multiplier(fp64_ref.numel(), ref.sizes(), res.scalar_type(), options);
  return res_error <= multiplier * ref_error + options.tol / 10.0 ||
         (options.equal_nan && std::isnan(ref_error) && std::isnan(res_error));
}

bool answer(at::Tensor ref, at::Tensor res, const at::Tensor &fp64_ref, const CompareOptions &options) {
  if (ref.is_sparse()) {
    if (!res.is_sparse())
      return false;
    ref = ref.to_dense();
    res = res.to_dense();
  }
  if (options.exact_dtype) {
    if (ref.scalar_type() != res.scalar_type())
      return false;
    if (ref.scalar_type() == at::kBool)
      return bools_are_same(ref, res, options);
  }
  if (options.cos_similarity)
    return point_the_same_way(ref, res, options);
  if (!options.exact_dtype)
    ref = ref.to(res.scalar_type());
  if (at::allclose(ref, res, options.tol, options.tol, options.equal_nan))
    return true;
  if (fp64_ref.scalar_type() == at::kDouble)
    return near_enough_to_fp64(ref, res, fp64_ref, options);
  return options.ignore_non_fp;
}

} // namespace

/// torch._dynamo.utils.same() of the PyTorch that this is built against: since 2.15 it has the multiplier 8 for all
/// tensors of fewer than 1000 elements, and before for those of up to 500.
constexpr bool is_8_up_to_1000 = TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 15);

double error_multiplier(std::int64_t size, at::IntArrayRef shape, at::ScalarType result_type,
                        const CompareOptions &options) {
  if (options.force_max_multiplier)
    return 10.0;
  if (options.use_larger_multiplier_for_smaller_tensor && size <= 10)
    return 10.0;
  if (options.use_larger_multiplier_for_smaller_tensor && size < (is_8_up_to_1000 ? 1000 : 501))
    return 8.0;
  // In a small tensor, and in the output of a 1x1 kernel, noise can dominate the mean.
  const bool one_by_one = shape.size() == 4 && shape[2] == 1 && shape[3] == 1;
  if (size < 1000 || one_by_one || options.tol >= 2e-2)
    return 3.0;
  const bool half = result_type == at::kHalf || result_type == at::kBFloat16 || result_type == at::kComplexHalf;
  return half ? 3.0 : 2.0;
}

bool same_as_pytorch_answers(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64_ref,
                             const CompareOptions &options) {
  try {
    return answer(ref.detach(), res.detach(), fp64_ref.detach(), options);
  } catch (const std::exception &error) {
    unless_out_of_memory(error);
    return false;
  }
}

} // namespace repro_minify
