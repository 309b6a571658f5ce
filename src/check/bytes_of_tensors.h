// What tensors take of memory, each as often as it is named.
#pragma once
#include <ATen/ATen.h>

#include <cstddef>

namespace repro_minify {

/// Of any range of tensors; what is undefined or has no one piece of memory counts nothing.
template <typename Tensors> std::size_t bytes_of_tensors(const Tensors &tensors) {
  std::size_t bytes = 0;
  for (const at::Tensor &tensor : tensors)
    if (tensor.defined() && tensor.layout() == at::kStrided)
      bytes += tensor.nbytes();
  return bytes;
}

} // namespace repro_minify
