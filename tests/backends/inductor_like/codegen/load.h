// An operand of a kernel.
#pragma once
#include "backends/inductor_like/kernel.h"

#include <cstdint>
#include <vector>

namespace repro_minify {

inline Loader load(int id, Element element, std::vector<int64_t> strides) {
  return [=](Body &body, const std::vector<Index> &at) { return body.load({id, element}, flat_index(at, strides)); };
}

} // namespace repro_minify
