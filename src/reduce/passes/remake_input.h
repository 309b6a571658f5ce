// An input made again with other sizes, another dtype or other values. What is not understood (sparse, quantised, on a
// device) is never made again.
#pragma once
#include "program/graph.h"
#include "reduce/passes/pass.h"
#include "repro_minify/program.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
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

/// Returns the Program in which each input of `which` is what `change` returns for its number; nothing where that is
/// nothing for one of them.
std::optional<Program> with_inputs(const Program &program, const std::vector<std::size_t> &which,
                                   const std::function<std::optional<ProgramInput>(std::size_t)> &change);

/// Says so (PassContext::incomplete) where an input holds more data than the functions above copy.
void note_large_inputs(PassContext &context);

// A call that makes a tensor of one number: torch.full, torch.zeros or torch.ones.

/// Returns the number that all elements of a tensor are, NaN and infinities among them; 0 for a tensor without
/// elements. Nothing where they differ, or are no plain numbers.
std::optional<double> only_number_in(const at::Tensor &tensor);

/// Returns what makes such a tensor: "zeros", "ones" or "full".
std::string name_of_filling(double number);

/// Returns the value of a new call in front of `before`, in the dialect of its graph, that gives `number` in the sizes
/// and dtype of `like`.
Value *insert_filled(Node *before, double number, const at::Tensor &like);

// Edits that remove one node, or one value that a loop carries, and that no cut can do.

/// Returns the edits that can be tried on node number `node` (depth first), likeliest first. `program` must outlive the
/// list and stay as it is until one of them was made.
std::vector<LazyProgram> single_edits(const Program &program, int node);

} // namespace repro_minify
