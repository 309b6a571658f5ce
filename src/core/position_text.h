// Where an element of a tensor is, as people write it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace repro_minify {

/// The coordinates of a row-major index into a tensor of these sizes.
inline std::vector<std::int64_t> position_of(std::int64_t index, const std::vector<std::int64_t> &sizes) {
  std::vector<std::int64_t> position(sizes.size());
  for (std::size_t dim = sizes.size(); dim-- > 0; index /= sizes[dim])
    position[dim] = index % sizes[dim];
  return position;
}

/// "[2, 3]"; "[]" where there is no dimension.
inline std::string position_text(std::int64_t index, const std::vector<std::int64_t> &sizes) {
  std::string text;
  for (const std::int64_t coordinate : position_of(index, sizes))
    text += (text.empty() ? "" : ", ") + std::to_string(coordinate);
  return "[" + text + "]";
}

} // namespace repro_minify
