// A tensor that has not been computed: its elements as expressions, the way TorchInductor's lowering holds them.
#pragma once
#include "backends/inductor_like/plan.h"

#include <functional>
#include <vector>

namespace repro_minify::inductor_like {

struct Lazy {
  std::vector<int64_t> sizes;
  at::ScalarType dtype = at::kFloat;
  Loader load; ///< in the compute type of dtype; takes as many indices as there are sizes
};

/// C++ for a value of one type as another.
std::string converted(Body &body, const std::string &value, Element from, Element to);
/// A literal of the type.
std::string literal(const c10::Scalar &scalar, Element type);

/// Returns a view of `source`: the same elements at other places.
Lazy viewed(const Lazy &source, std::vector<int64_t> sizes,
            std::function<std::vector<Index>(const std::vector<Index> &)> place);
/// Broadcast to `sizes`, right-aligned.
Lazy broadcast(const Lazy &source, const std::vector<int64_t> &sizes);
/// The same elements in order, in another shape.
Lazy reshaped(const Lazy &source, const std::vector<int64_t> &sizes);
/// The elements as another type.
Lazy cast(const Lazy &source, at::ScalarType dtype);

} // namespace repro_minify::inductor_like
