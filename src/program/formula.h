// Values that a person can write down: as a formula, or element by element.
#pragma once

#include "repro_minify/program.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// Returns the name of the function that makes such values: "zeros", "ones", "full", "arange", "randn", "rand".
const char *function_name(Formula::Kind kind);

/// Returns the formula of a tensor that has this number everywhere, as number_text() writes it.
Formula full_formula(double value);

/// Returns the formula as reports show it: "zeros", "full:0.5", "randn:7".
std::string to_string(const Formula &formula);

/// True if the values come from a generator.
bool is_drawn(const Formula &formula);

/// Returns the tensor that a formula stands for, contiguous; nothing for one that the dtype does not have (a randn of
/// integers), or an arange of over 100. The reducing process may call it: it has one thread, and then no kernel enters
/// OpenMP.
std::optional<at::Tensor> tensor_from_formula(const Formula &formula, const std::vector<int64_t> &sizes,
                                              at::ScalarType dtype);

/// Returns the same as C++ source, an expression of type at::Tensor; one that draws has a generator of its own.
std::string formula_source(const Formula &formula, const std::vector<int64_t> &sizes, at::ScalarType dtype);

/// The shortest text that reads back as the same number: as a float32 where it is one.
std::string number_text(double value);

/// "at::kFloat".
std::string dtype_source(at::ScalarType dtype);

// The elements of a small tensor as plain numbers, and back: what a simplification looks at and changes. Element-wise
// loops, no kernels: the reducing process may call all of this.

/// True of a tensor whose elements lie in the CPU's memory, as they are: a part of it can be copied.
bool is_dense(const at::Tensor &tensor);
/// True of one that is also real: it can be made again from its elements as numbers.
bool is_plain(const at::Tensor &tensor);

/// Returns a copy, bit by bit, with these strides (empty: contiguous); nothing for a tensor that is not dense or has
/// more than `most` elements.
std::optional<at::Tensor> copy_of(const at::Tensor &tensor, std::int64_t most,
                                  const std::vector<std::int64_t> &strides = {});

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
