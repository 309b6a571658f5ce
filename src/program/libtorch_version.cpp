#include "program/libtorch_version.h"

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/version.h>

#include <cstdint>

namespace repro_minify {

std::string libtorch_version() {
  const uint64_t loaded = aoti_torch_abi_version(); // a byte each, from the top
  if (loaded == TORCH_ABI_VERSION)
    return TORCH_VERSION;
  std::string text;
  for (const int shift : {56, 48, 40})
    text += (text.empty() ? "" : ".") + std::to_string(loaded >> shift & 0xff);
  return text;
}

} // namespace repro_minify
