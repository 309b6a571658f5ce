// Large tensors a block of elements at a time. What a comparison makes of its operands (doubles, masks, differences)
// takes several times as much as they do; in blocks it takes megabytes, and stays in the processor's caches. Internal
// to src/check.
#pragma once

#include "repro_minify/compare.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace repro_minify {

inline constexpr std::int64_t elements_of_a_block = 1 << 18;

/// Calls `use` with the same elements of each of `tensors`, block after block, and with the index of the first one. The
/// tensors are of one shape, or undefined; up to one block they are handed on as they are. Ends early where `use`
/// returns false.
template <std::size_t N, typename Use> bool for_each_block(const std::array<at::Tensor, N> &tensors, Use use) {
  const std::int64_t count = tensors[0].numel();
  if (count <= elements_of_a_block)
    return use(tensors, std::int64_t{0});
  std::array<at::Tensor, N> flat;
  for (std::size_t i = 0; i < N; ++i)
    flat[i] = tensors[i].defined() ? tensors[i].reshape({-1}) : at::Tensor();
  for (std::int64_t first = 0; first < count; first += elements_of_a_block) {
    std::array<at::Tensor, N> block;
    for (std::size_t i = 0; i < N; ++i)
      if (flat[i].defined())
        block[i] = flat[i].narrow(0, first, std::min(elements_of_a_block, count - first));
    if (!use(block, first))
      return false;
  }
  return true;
}

// Two tensors under one of the rules of compare.h. Internal to src/check: everybody else calls `same`.

/// The result of comparing two tensors by a rule: of a LeafReport what the rule decides, and as its message the
/// comparison that failed, with its numbers.
using TensorVerdict = LeafReport;

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

/// Call only inside a catch block that has caught `error`: throws it again if memory ran out, which says nothing about
/// the values. Returns "comparing raises: " and the first line of its message.
std::string unless_out_of_memory(const std::exception &error);

// The rules Close and Exact for two tensors: element by element against eager, without float64. Internal to src/check.

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

// Numbers and sentences about how two tensors differ, for reports. No rule depends on them. Internal to src/check.

/// Fills in the largest errors, where they are, and the NaN and Inf counts. Leaves out what two tensors of different
/// shapes do not have.
void add_statistics(const at::Tensor &ref, const at::Tensor &res, LeafReport &report);

/// The one line for a person: where, what, `reason` (the comparison that failed), then the worst element.
std::string difference_message(const at::Tensor &ref, const std::string &reason, const LeafReport &report);

} // namespace repro_minify
