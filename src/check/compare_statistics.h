// Numbers and sentences about how two tensors differ, for reports. No rule depends on them. Internal to src/check.
#pragma once
#include "repro_minify/compare.h"

#include <ATen/core/Tensor.h>

namespace repro_minify {

/// Fills in the largest errors, where they are, and the NaN and Inf counts. Leaves out what two tensors of different
/// shapes do not have.
void add_statistics(const at::Tensor &ref, const at::Tensor &res, LeafReport &report);

/// The one line for a person: where, what, `reason` (the comparison that failed), then the worst element.
std::string difference_message(const at::Tensor &ref, const at::Tensor &res, const std::string &reason,
                               const LeafReport &report);

} // namespace repro_minify
