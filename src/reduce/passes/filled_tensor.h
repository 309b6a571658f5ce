// A call that makes a tensor of one number: torch.full, torch.zeros or torch.ones.
#pragma once
#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>

namespace repro_minify {

/// Returns the number that all elements of a tensor are, NaN and infinities among them; 0 for a tensor without
/// elements. Nothing where they differ, or are no plain numbers.
std::optional<double> only_number_in(const at::Tensor &tensor);

/// Returns what makes such a tensor: "zeros", "ones" or "full".
std::string name_of_filling(double number);

/// Returns the value of a new call in front of `before`, in the dialect of its graph, that gives `number` in the sizes
/// and dtype of `like`.
torch::jit::Value *insert_filled(torch::jit::Node *before, double number, const at::Tensor &like);

} // namespace repro_minify
