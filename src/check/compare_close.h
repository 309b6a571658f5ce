// The rules Close and Exact for two tensors: element by element against eager, without float64. Internal to src/check.
#pragma once
#include "check/compare_tensors.h"

namespace repro_minify {

struct Tolerances {
  double rtol = 0;
  double atol = 0;
};
/// Those that torch.testing.assert_close has for tensors of these dtypes: the looser of the two.
Tolerances tolerances_by_dtype(at::ScalarType a, at::ScalarType b);
/// The tolerances in force under the rule Close.
Tolerances close_tolerances(const CompareOptions &options, at::ScalarType a, at::ScalarType b);

TensorVerdict compare_close(const at::Tensor &ref, const at::Tensor &res, const CompareOptions &options);

/// True if assert_close, with its own tolerances, would let them pass but for their dtypes and their NaN.
bool are_close(const at::Tensor &ref, const at::Tensor &res);

/// True if no element is further off than the coarser of two different dtypes explains.
bool agree_within_coarser(const at::Tensor &ref, const at::Tensor &res);

} // namespace repro_minify
