// The memory that tensors take; a tensor that is named twice counts twice.
#pragma once
#include <ATen/ATen.h>

#include <cstddef>

namespace repro_minify {

/// Returns the bytes of any range of tensors. One that is undefined, or has no one piece of memory, counts as zero.
template <typename Tensors> std::size_t bytes_of_tensors(const Tensors &tensors) {
  std::size_t bytes = 0;
  for (const at::Tensor &tensor : tensors)
    if (tensor.defined() && tensor.layout() == at::kStrided)
      bytes += tensor.nbytes();
  return bytes;
}

} // namespace repro_minify
