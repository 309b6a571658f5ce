// The text of --input, before there are tensors: f32[2,3,32,32], i64[4,16]@0:50.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

struct InputSpec {
  std::string dtype; ///< "f32", "bool", "c128": one of those that docs/inputs.md has
  std::vector<int64_t> sizes;
  std::optional<std::pair<double, double>> range; ///< the end excluded; it fits into the dtype
};

/// No more elements than a machine can hold. Throws std::invalid_argument for a text that describes no input, with how
/// one is described.
InputSpec read_input_spec(const std::string &text);

} // namespace repro_minify
