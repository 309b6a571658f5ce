// Values a person can write down: "zeros", "ones", "full:NUMBER", "arange", "randn:SEED", "rand:SEED".
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// The tensor a formula stands for, contiguous; nothing for one that the dtype does not have (a randn of integers), or
/// an arange of over 100. The reducing process may call it: it has one thread, and then no kernel enters OpenMP.
std::optional<at::Tensor> tensor_from_formula(const std::string &formula, const std::vector<int64_t> &sizes,
                                              at::ScalarType dtype);

/// The same as C++ source, an expression of type at::Tensor; one that draws has a generator of its own.
std::string formula_source(const std::string &formula, const std::vector<int64_t> &sizes, at::ScalarType dtype);

/// The formula of a tensor that has this number everywhere.
std::string full_formula(double value);

/// The shortest text that reads back as the same number: as a float32 where it is one.
std::string number_text(double value);

/// "at::kFloat".
std::string dtype_source(at::ScalarType dtype);
/// "{2, 3}".
std::string sizes_source(const std::vector<int64_t> &sizes);

} // namespace repro_minify
