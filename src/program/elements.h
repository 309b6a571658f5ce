// The elements of a small tensor as plain numbers, and back: what a simplification looks at and changes. Element-wise
// loops, no kernels: the reducing process may call all of this.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace repro_minify {

/// Dense, real, on the CPU, with a storage of its own kind: the tensors that can be made again from their elements.
bool is_plain(const at::Tensor &tensor);

/// Row-major, whatever the strides are; nothing for a tensor that is not plain or has more than `most` elements.
/// Integers beyond 2^53 lose their last bits.
std::optional<std::vector<double>> elements_of(const at::Tensor &tensor, std::int64_t most);

/// The same elements in a new tensor: `strides` empty is contiguous. Numbers that the dtype cannot hold saturate.
at::Tensor tensor_of(const std::vector<double> &elements, const std::vector<std::int64_t> &sizes, at::ScalarType dtype,
                     const std::vector<std::int64_t> &strides = {});

/// Strides of a tensor of these sizes with the order of dimensions, and the expanded dimensions, that `like` has; empty
/// when `like` is contiguous.
std::vector<std::int64_t> strides_like(const at::Tensor &like, const std::vector<std::int64_t> &sizes);

} // namespace repro_minify
