#include "program/formula.h"

#include <ATen/ATen.h>

namespace repro_minify {
namespace {

bool is_randn(const std::string &formula) { return formula.rfind("randn:", 0) == 0; }

int64_t product(const std::vector<int64_t> &sizes) {
  int64_t result = 1;
  for (auto size : sizes)
    result *= size;
  return result;
}

} // namespace

std::optional<at::Tensor> tensor_from_formula(const std::string &formula, const std::vector<int64_t> &sizes, at::ScalarType dtype) {
  if (at::isQIntType(dtype))
    return std::nullopt;
  if (formula == "zeros")
    return at::zeros(sizes, dtype);
  if (formula == "ones")
    return at::ones(sizes, dtype);
  if (formula == "arange") {
    // A count makes sense for numbers that can hold it.
    if (dtype == at::kBool || at::isComplexType(dtype) || product(sizes) < 2 || product(sizes) > 100)
      return std::nullopt;
    return at::arange(product(sizes), dtype).reshape(sizes);
  }
  if (is_randn(formula)) {
    if (!at::isFloatingType(dtype) && !at::isComplexType(dtype))
      return std::nullopt;
    const uint64_t seed = std::stoull(formula.substr(6));
    auto generator = at::detail::createCPUGenerator(seed);
    const bool half = dtype == at::kHalf || dtype == at::kBFloat16;
    return at::randn(sizes, generator, at::TensorOptions().dtype(half ? at::kFloat : dtype)).to(dtype);
  }
  return std::nullopt;
}

std::string dtype_source(at::ScalarType dtype) { return std::string("at::k") + c10::toString(dtype); }

std::string sizes_source(const std::vector<int64_t> &sizes) {
  std::string text = "{";
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "}";
}

std::string formula_source(const std::string &formula, const std::vector<int64_t> &sizes, at::ScalarType dtype) {
  if (formula == "arange")
    return "at::arange(" + std::to_string(product(sizes)) + ", " + dtype_source(dtype) + ")" +
           (sizes.size() == 1 ? "" : ".reshape(" + sizes_source(sizes) + ")");
  if (is_randn(formula)) {
    const bool half = dtype == at::kHalf || dtype == at::kBFloat16;
    return "at::randn(" + sizes_source(sizes) + ", at::detail::createCPUGenerator(" + formula.substr(6) + ")" +
           (dtype == at::kFloat || half ? "" : ", at::TensorOptions().dtype(" + dtype_source(dtype) + ")") + ")" +
           (half ? ".to(" + dtype_source(dtype) + ")" : "");
  }
  return "at::" + formula + "(" + sizes_source(sizes) + (dtype == at::kFloat ? "" : ", " + dtype_source(dtype)) + ")";
}

} // namespace repro_minify
