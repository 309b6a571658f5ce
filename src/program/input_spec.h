// Inputs that --input describes: f32[2,3,32,32], i64[4,16]@0:50.
#pragma once
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <vector>

namespace repro_minify {

/// A tuple of seeded tensors, one for each text. Those that can require grad do if `requires_grad`. Throws UserError.
c10::IValue inputs_from_specs(const std::vector<std::string> &specs, uint64_t seed, bool requires_grad);

} // namespace repro_minify
