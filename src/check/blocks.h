// Large tensors a block of elements at a time. What a comparison makes of its operands (doubles, masks, differences)
// takes several times as much as they do; in blocks it takes megabytes, and stays in the processor's caches. Internal
// to src/check.
#pragma once
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace repro_minify {

inline constexpr std::int64_t elements_of_a_block = 1 << 18;

/// Calls `use` with the same elements of each of `tensors`, block after block, and with the index of the first one. The
/// tensors are of one shape, or undefined; up to one block they are handed on as they are. Ends early where `use`
/// returns false.
template <std::size_t N, typename Use> bool for_each_block(const std::array<at::Tensor, N> &tensors, Use use) {
  const std::int64_t count = tensors[0].numel();
  if (count <= elements_of_a_block)
    return use(tensors, std::int64_t{0});
  std::array<at::Tensor, N> flat;
  for (std::size_t i = 0; i < N; ++i)
    flat[i] = tensors[i].defined() ? tensors[i].reshape({-1}) : at::Tensor();
  for (std::int64_t first = 0; first < count; first += elements_of_a_block) {
    std::array<at::Tensor, N> block;
    for (std::size_t i = 0; i < N; ++i)
      if (flat[i].defined())
        block[i] = flat[i].narrow(0, first, std::min(elements_of_a_block, count - first));
    if (!use(block, first))
      return false;
  }
  return true;
}

} // namespace repro_minify
