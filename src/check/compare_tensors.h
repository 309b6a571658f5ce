// Two tensors under one of the rules of compare.h. Internal to src/check: everybody else calls `same`.
#pragma once
#include "repro_minify/compare.h"

#include <ATen/core/Tensor.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace repro_minify {

/// The result of comparing two tensors by a rule.
struct TensorVerdict {
  bool same = true;
  std::vector<FailureKind> kinds; ///< empty when same
  std::string reason;             ///< the comparison that failed, with its numbers; empty when same
  double ref_error = std::numeric_limits<double>::quiet_NaN();
  double res_error = std::numeric_limits<double>::quiet_NaN();
  double ref_max_error = std::numeric_limits<double>::quiet_NaN();
  double multiplier = std::numeric_limits<double>::quiet_NaN();
};

/// The Default and the Strict rule. `measure`: fill in the errors even where the answer did not need them.
TensorVerdict compare_tensors(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64_ref,
                              const CompareOptions &options, bool measure);

/// Fills in the errors of both sides against a float64 reference, where there is one and they are not known yet.
void measure(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64_ref, const CompareOptions &options,
             TensorVerdict &verdict);

/// PyTorch's own answer; false where it raises.
bool same_as_pytorch_answers(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64_ref,
                             const CompareOptions &options);

/// How many times eager's own error the result's error may be. `size` is that of the fp64 reference, `shape` that of
/// the eager result.
double error_multiplier(std::int64_t size, at::IntArrayRef shape, at::ScalarType result_type,
                        const CompareOptions &options);

/// Values in a row, numbers with three digits.
template <typename... Parts> std::string text(const Parts &...parts) {
  std::ostringstream out;
  out.precision(3);
  (out << ... << parts);
  return out.str();
}

/// A layout that has indices.
bool is_sparse_layout(const at::Tensor &tensor);

/// Adds a kind of wrongness, and what is to be said about it.
void fail(TensorVerdict &verdict, FailureKind kind, const std::string &reason);

/// True if neither tensor holds values that could be compared; `verdict` then says so.
bool hold_no_values(const at::Tensor &ref, const at::Tensor &res, TensorVerdict &verdict);

/// Two results of different dtypes: what the coarser one rounds off is no failure of its own.
void blame_dtype(const at::Tensor &ref, const at::Tensor &res, TensorVerdict &verdict);

/// A dense, detached tensor of a dtype that the CPU has kernels for, with the same values.
at::Tensor plain(const at::Tensor &tensor);

/// A complex tensor as one of real numbers with one dimension more; any other as it is.
at::Tensor real_view(const at::Tensor &tensor);

/// Returns the first line of the error's message, without a stack trace.
std::string first_line(const std::exception &error);

/// Running out of memory says nothing about the values: the one error that comparing passes on.
bool is_out_of_memory(const std::exception &error);

} // namespace repro_minify
