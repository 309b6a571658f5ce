// The elements of a small tensor as a person writes them.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>

namespace repro_minify {

constexpr std::int64_t most_elements_in_text = 16;

/// "[[1, 2], [3, 4.5]]", each number as short as it can be; empty for a tensor of more than most_elements_in_text
/// elements, or one whose elements cannot be read as they are (sparse, quantised, complex).
std::string elements_text(const at::Tensor &tensor);

} // namespace repro_minify
