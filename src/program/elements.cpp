#include "program/elements.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace repro_minify {
namespace {

bool has_loops(at::ScalarType dtype) {
  switch (dtype) {
  case at::kFloat:
  case at::kDouble:
  case at::kHalf:
  case at::kBFloat16:
  case at::kByte:
  case at::kChar:
  case at::kShort:
  case at::kInt:
  case at::kLong:
  case at::kBool:
    return true;
  default:
    return false;
  }
}

/// Calls `visit` with the storage offset of each element, row-major.
template <typename Visit> void for_each_offset(const at::Tensor &tensor, Visit visit) {
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  std::vector<int64_t> index(sizes.size());
  int64_t offset = 0;
  for (int64_t count = tensor.numel(); count > 0; --count) {
    visit(offset);
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < sizes[d])
        break;
      offset -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
}

template <typename T> T saturated(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto lowest = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto highest = static_cast<double>(std::numeric_limits<T>::max());
    if (std::isnan(value))
      return 0;
    if (value >= highest)
      return std::numeric_limits<T>::max();
    return value <= lowest ? std::numeric_limits<T>::lowest() : static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

} // namespace

bool is_plain(const at::Tensor &tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.has_storage() &&
         !tensor.is_quantized() && !tensor.is_neg() && has_loops(tensor.scalar_type());
}

std::optional<std::vector<double>> elements_of(const at::Tensor &tensor, int64_t most) {
  if (!is_plain(tensor) || tensor.numel() > most)
    return std::nullopt;
  std::vector<double> elements;
  elements.reserve(tensor.numel());
  AT_DISPATCH_ALL_TYPES_AND3(at::kHalf, at::kBFloat16, at::kBool, tensor.scalar_type(), "elements_of", [&] {
    const auto *data = tensor.const_data_ptr<scalar_t>();
    for_each_offset(tensor, [&](int64_t offset) { elements.push_back(static_cast<double>(data[offset])); });
  });
  return elements;
}

at::Tensor tensor_of(const std::vector<double> &elements, const std::vector<int64_t> &sizes, at::ScalarType dtype,
                     const std::vector<int64_t> &strides) {
  at::Tensor tensor = strides.empty() ? at::empty(sizes, dtype) : at::empty_strided(sizes, strides, dtype);
  if (const std::size_t bytes = tensor.storage().nbytes(); bytes > 0) // nothing lies nowhere
    std::memset(tensor.storage().mutable_data(), 0, bytes);
  AT_DISPATCH_ALL_TYPES_AND3(at::kHalf, at::kBFloat16, at::kBool, dtype, "tensor_of", [&] {
    auto *data = tensor.mutable_data_ptr<scalar_t>();
    size_t next = 0;
    for_each_offset(tensor, [&](int64_t offset) { data[offset] = saturated<scalar_t>(elements.at(next++)); });
  });
  return tensor;
}

std::vector<int64_t> strides_like(const at::Tensor &like, const std::vector<int64_t> &sizes) {
  if (like.is_contiguous() || like.dim() != static_cast<int64_t>(sizes.size()))
    return {};
  std::vector<size_t> inner_first(sizes.size());
  std::iota(inner_first.begin(), inner_first.end(), 0);
  std::stable_sort(inner_first.begin(), inner_first.end(), [&](size_t a, size_t b) {
    return like.stride(static_cast<int64_t>(a)) < like.stride(static_cast<int64_t>(b));
  });
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d : inner_first) {
    if (like.stride(static_cast<int64_t>(d)) == 0)
      continue; // expanded
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

} // namespace repro_minify
