#include "repro/elements_text.h"

#include "program/formula.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace repro_minify {
namespace {

/// Reads the elements one after the other.
std::string nested(const std::vector<double> &elements, std::size_t &next, at::IntArrayRef sizes) {
  if (sizes.empty())
    return number_text(elements[next++]);
  std::string text;
  for (std::int64_t i = 0; i < sizes[0]; ++i)
    text += (i > 0 ? ", " : "") + nested(elements, next, sizes.slice(1));
  return "[" + text + "]";
}

} // namespace

std::string elements_text(const at::Tensor &tensor) {
  const auto elements = elements_of(tensor, most_elements_in_text);
  std::size_t next = 0;
  return elements && !elements->empty() ? nested(*elements, next, tensor.sizes()) : "";
}

} // namespace repro_minify
