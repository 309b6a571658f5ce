#include "program/formula.h"

#include <ATen/ATen.h>

namespace repro_minify {
namespace {

/// "randn:7" and "rand:7", in two.
struct Seeded {
  std::string function;
  uint64_t seed;
};

std::optional<Seeded> seeded(const std::string &formula) {
  const auto colon = formula.find(':');
  if (colon == std::string::npos)
    return std::nullopt;
  return Seeded{formula.substr(0, colon), std::stoull(formula.substr(colon + 1))};
}

/// Half precision is drawn in float32 and rounded.
bool is_half(at::ScalarType dtype) {
  return dtype == at::kHalf || dtype == at::kBFloat16;
}

int64_t product(const std::vector<int64_t> &sizes) {
  int64_t result = 1;
  for (auto size : sizes)
    result *= size;
  return result;
}

} // namespace

std::optional<at::Tensor> tensor_from_formula(const std::string &formula, const std::vector<int64_t> &sizes,
                                              at::ScalarType dtype) {
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
  if (const auto draw = seeded(formula)) {
    if (!at::isFloatingType(dtype) && !at::isComplexType(dtype))
      return std::nullopt;
    const auto generator = at::detail::createCPUGenerator(draw->seed);
    const auto options = at::TensorOptions().dtype(is_half(dtype) ? at::kFloat : dtype);
    return (draw->function == "randn" ? at::randn(sizes, generator, options) : at::rand(sizes, generator, options))
        .to(dtype);
  }
  return std::nullopt;
}

std::string dtype_source(at::ScalarType dtype) {
  return std::string("at::k") + c10::toString(dtype);
}

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
  if (const auto draw = seeded(formula)) {
    std::string source = "at::" + draw->function + "(" + sizes_source(sizes) + ", at::detail::createCPUGenerator(" +
                         std::to_string(draw->seed) + ")";
    if (dtype != at::kFloat && !is_half(dtype))
      source += ", at::TensorOptions().dtype(" + dtype_source(dtype) + ")";
    source += ")";
    return is_half(dtype) ? source + ".to(" + dtype_source(dtype) + ")" : source;
  }
  return "at::" + formula + "(" + sizes_source(sizes) + (dtype == at::kFloat ? "" : ", " + dtype_source(dtype)) + ")";
}

} // namespace repro_minify
