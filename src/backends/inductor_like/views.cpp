#include "backends/inductor_like/lowered_values.h"

namespace repro_minify::inductor_like {
namespace {

using Sizes = std::vector<int64_t>;
using Place = std::function<std::vector<Index>(const std::vector<Index> &)>;

int64_t wrapped(int64_t dim, size_t rank) {
  return dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
}

/// The index of `result`'s dimension d goes to dimension order[d] of the source.
Place permuted(const std::vector<size_t> &order) {
  return [order](const std::vector<Index> &at) {
    std::vector<Index> indices(order.size());
    for (size_t d = 0; d < order.size(); ++d)
      indices[order[d]] = at[d];
    return indices;
  };
}

Place from(size_t dim, int64_t start, int64_t step) {
  return [=](std::vector<Index> at) {
    at[dim] = at[dim] * step + Index(start);
    return at;
  };
}

Place with(size_t dim, int64_t index) {
  return [=](std::vector<Index> at) {
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(dim), Index(index));
    return at;
  };
}

const std::set<std::string> &reshaping() {
  static const std::set<std::string> names = {
      "aten::view",    "aten::reshape",    "aten::_unsafe_view", "aten::flatten", "aten::unflatten",
      "aten::view_as", "aten::reshape_as", "aten::unsqueeze",    "aten::squeeze", "aten::ravel"};
  return names;
}

std::vector<size_t> permutation(const Node *node, const Lazy &source, const Observation &seen) {
  const std::string kind = node->kind().toQualString();
  const size_t rank = source.sizes.size();
  std::vector<size_t> order(rank);
  for (size_t d = 0; d < rank; ++d)
    order[d] = d;
  const auto number = [&](size_t k) {
    return static_cast<size_t>(wrapped(seen.constant(node->input(k)).toInt(), rank));
  };
  if (kind == "aten::permute") {
    const auto dims = seen.constant(node->input(1)).toIntVector();
    for (size_t d = 0; d < rank; ++d)
      order[d] = static_cast<size_t>(wrapped(dims[d], rank));
  } else if (kind == "aten::transpose" || kind == "aten::swapaxes" || kind == "aten::swapdims") {
    if (rank > 0)
      std::swap(order[number(1)], order[number(2)]);
  } else if (kind == "aten::t" || kind == "aten::numpy_T" || kind == "aten::mT" || kind == "aten::T") {
    if (rank == 2)
      std::swap(order[0], order[1]);
    else if (rank > 2)
      return {};
  } else {
    return {};
  }
  return order;
}

std::optional<Lazy> sliced(const Node *node, const Lazy &source, const Observation &seen,
                           const ObservedTensor &result) {
  const auto dim = static_cast<size_t>(wrapped(seen.constant(node->input(1)).toInt(), source.sizes.size()));
  const c10::IValue &given = seen.constant(node->input(2));
  const int64_t size = source.sizes[dim];
  int64_t start = given.isInt() ? given.toInt() : 0;
  start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  const bool steps = node->kind() == c10::Symbol::fromQualString("aten::slice");
  return viewed(source, result.sizes, from(dim, start, steps ? seen.constant(node->input(4)).toInt() : 1));
}

std::optional<Lazy> selected(const Node *node, const Lazy &source, const Observation &seen,
                             const ObservedTensor &result) {
  const auto dim = static_cast<size_t>(wrapped(seen.constant(node->input(1)).toInt(), source.sizes.size()));
  return viewed(source, result.sizes,
                with(dim, wrapped(seen.constant(node->input(2)).toInt(), static_cast<size_t>(source.sizes[dim]))));
}

std::optional<Lazy> strided(const Node *node, const Lazy &source, const Observation &seen) {
  const Sizes sizes = seen.constant(node->input(1)).toIntVector(),
              strides = seen.constant(node->input(2)).toIntVector();
  const c10::IValue &given = seen.constant(node->input(3));
  const int64_t offset = given.isInt() ? given.toInt() : 0;
  if (std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride < 0; }))
    return std::nullopt;
  // Functionalisation gives it contiguous sources only; a captured as_strided may see any.
  const auto *operand = seen.tensor(node->input(0));
  if (!operand || operand->strides != contiguous_strides(operand->sizes) || operand->offset != 0)
    return std::nullopt;
  int64_t last = offset;
  for (size_t d = 0; d < sizes.size(); ++d)
    last += std::max<int64_t>(sizes[d] - 1, 0) * strides[d];
  if (last >= product(operand->sizes)) // in the memory around it
    return std::nullopt;
  return viewed(source, sizes, [=, whole = source.sizes](const std::vector<Index> &at) {
    return unflatten(flat_index(at, strides) + Index(offset), whole);
  });
}

} // namespace

std::optional<Lazy> view_of(const Node *node, const Lazy &source, const Observation &seen,
                            const ObservedTensor &result) {
  const std::string kind = node->kind().toQualString();
  if (result.dtype != source.dtype)
    return std::nullopt; // view.dtype looks at the bits
  if (reshaping().count(kind))
    return reshaped(source, result.sizes);
  if (kind == "aten::expand" || kind == "aten::expand_as" || kind == "aten::broadcast_to")
    return broadcast(source, result.sizes);
  if (kind == "aten::detach" || kind == "aten::alias")
    return source;
  if (kind == "aten::slice" && node->inputs().size() == 5)
    return sliced(node, source, seen, result);
  if (kind == "aten::narrow" && seen.constant(node->input(2)).isInt())
    return sliced(node, source, seen, result);
  if (kind == "aten::select" && node->inputs().size() == 3)
    return selected(node, source, seen, result);
  if (kind == "aten::as_strided")
    return strided(node, source, seen);
  if (const auto order = permutation(node, source, seen); !order.empty())
    return viewed(source, result.sizes, permuted(order));
  return std::nullopt;
}

std::vector<Lazy> parts_of(const Node *node, const Lazy &source, const Observation &seen) {
  const std::string kind = node->kind().toQualString();
  std::vector<Lazy> parts;
  if (kind == "aten::unbind") {
    const auto dim = static_cast<size_t>(wrapped(seen.constant(node->input(1)).toInt(), source.sizes.size()));
    Sizes sizes = source.sizes;
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    for (int64_t k = 0; k < source.sizes[dim]; ++k)
      parts.push_back(viewed(source, sizes, with(dim, k)));
    return parts;
  }
  if (kind != "aten::chunk" && kind != "aten::split" && kind != "aten::split_with_sizes")
    return parts;
  const auto dim = static_cast<size_t>(wrapped(seen.constant(node->input(2)).toInt(), source.sizes.size()));
  int64_t start = 0;
  for (const at::Tensor &part : seen.constant(node->output()).toTensorVector()) {
    parts.push_back(viewed(source, part.sizes().vec(), from(dim, start, 1)));
    start += part.size(static_cast<int64_t>(dim));
  }
  return parts;
}

} // namespace repro_minify::inductor_like
