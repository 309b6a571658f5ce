// An input made again with other sizes, another dtype or other values. What is not understood (sparse, quantised, on a
// device) is never made again.
#pragma once
#include "reduce/passes/pass.h"
#include "repro_minify/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// Returns the input as `formula` makes it, contiguous, its memory its own; nothing when the formula does not fit. A
/// count that does not fit (one of no or one element) becomes zeros.
std::optional<ProgramInput> with_formula(const ProgramInput &input, const Formula &formula,
                                         const std::vector<std::int64_t> &sizes, at::ScalarType dtype);

/// The block of these sizes that begins at `start` (one number a dimension): data keeps its order of dimensions in
/// memory, a formula stays one.
std::optional<ProgramInput> with_sizes(const ProgramInput &input, const std::vector<std::int64_t> &sizes,
                                       const std::vector<std::int64_t> &start);

/// The first block along each dimension that is left out. `kept`: which dimensions stay, ascending.
std::optional<ProgramInput> with_dimensions(const ProgramInput &input, const std::vector<std::size_t> &kept);

std::optional<ProgramInput> with_dtype(const ProgramInput &input, at::ScalarType dtype);

/// Data with other elements (row-major), the same sizes and order of dimensions.
std::optional<ProgramInput> with_elements(const ProgramInput &input, const std::vector<double> &elements);

/// Says so (PassContext::incomplete) where an input holds more data than the functions above copy.
void note_large_inputs(PassContext &context);

} // namespace repro_minify
