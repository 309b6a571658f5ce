#include "emit/tensor_literal.h"

#include "program/formula.h"
#include "program/values.h"
#include "support/cpp_number.h"

#include <ATen/ATen.h>

#include <charconv>
#include <cmath>

namespace repro_minify {
namespace {

/// The shortest text that reads back as the same number.
template <typename T> std::string number(T value) {
  if (std::isnan(value))
    return "NAN";
  if (std::isinf(value))
    return value > 0 ? "INFINITY" : "-INFINITY";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::string element(const at::Tensor &flat, int64_t i) {
  switch (flat.scalar_type()) {
  case at::kFloat:
    return number(flat.data_ptr<float>()[i]);
  case at::kDouble:
    return number(flat.data_ptr<double>()[i]);
  case at::kHalf:
    return number(static_cast<float>(flat.data_ptr<at::Half>()[i]));
  case at::kBFloat16:
    return number(static_cast<float>(flat.data_ptr<at::BFloat16>()[i]));
  case at::kBool:
    return flat.data_ptr<bool>()[i] ? "true" : "false";
  case at::kByte:
    return std::to_string(flat.data_ptr<uint8_t>()[i]);
  case at::kChar:
    return std::to_string(flat.data_ptr<int8_t>()[i]);
  case at::kShort:
    return std::to_string(flat.data_ptr<int16_t>()[i]);
  case at::kInt:
    return std::to_string(flat.data_ptr<int32_t>()[i]);
  case at::kLong:
    return integer_literal(flat.data_ptr<int64_t>()[i]);
  case at::kComplexFloat: {
    const auto value = flat.data_ptr<c10::complex<float>>()[i];
    return "c10::complex<double>(" + number(value.real()) + ", " + number(value.imag()) + ")";
  }
  case at::kComplexDouble: {
    const auto value = flat.data_ptr<c10::complex<double>>()[i];
    return "c10::complex<double>(" + number(value.real()) + ", " + number(value.imag()) + ")";
  }
  default:
    throw std::runtime_error("a tensor of type " + dtype_name(flat.scalar_type()) + " has no literal");
  }
}

std::string wrapped(const std::vector<std::string> &words) {
  std::string text;
  size_t column = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (i + 1 < words.size())
      word += ',';
    if (column + word.size() > 110) {
      text += "\n      ";
      column = 6;
    } else if (i) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text;
}

/// A one-dimensional tensor, all of `flat`.
std::string flat_literal(const at::Tensor &flat) {
  const auto dtype = dtype_source(flat.scalar_type());
  if (flat.numel() == 0)
    return "torch::empty({0}, " + dtype + ")";
  std::vector<std::string> words;
  bool plain = flat.numel() <= 64; // a braced list must be of one C++ type, and is slow to compile
  for (int64_t i = 0; i < flat.numel(); ++i) {
    words.push_back(element(flat, i));
    plain &= words.back().find("IN") == std::string::npos && words.back() != "NAN" && words.back().size() < 24;
    if (at::isIntegralType(flat.scalar_type(), false))
      plain &= words.back().size() < 10;
  }
  std::string list = "{";
  list += wrapped(words) + "}";
  if (plain || flat.scalar_type() == at::kBool)
    return "torch::tensor(" + list + ", " + dtype + ")";
  const std::string type = flat.is_complex() ? "c10::complex<double>" : flat.is_floating_point() ? "double" : "int64_t";
  return "torch::tensor(std::vector<" + type + ">" + list + ", " + dtype + ")";
}

/// All the elements of the memory a tensor lives in.
at::Tensor whole_storage(const at::Tensor &tensor) {
  const auto elements = static_cast<int64_t>(tensor.storage().nbytes() / tensor.element_size());
  return at::empty({0}, tensor.options()).set_(tensor.storage(), 0, {elements}, {1});
}

std::string strided(const at::Tensor &tensor) {
  return ".as_strided(" + sizes_source(tensor.sizes().vec()) + ", " + sizes_source(tensor.strides().vec()) + ", " +
         std::to_string(tensor.storage_offset()) + ")";
}

} // namespace

std::string TensorLiterals::expression(const ProgramInput &input) {
  const auto tensor = input.value.toTensor().detach();
  if (!storage_of(tensor))
    throw std::runtime_error("a tensor without storage has no literal");
  const std::string grad = keeps_grad_ && input.value.toTensor().requires_grad() ? ".set_requires_grad(true)" : "";
  const auto shared = storages_.find(storage_of(tensor));
  shares_ |= shared != storages_.end();
  if (shared != storages_.end())
    return shared->second + ".detach()" + strided(tensor) + grad;
  storages_[storage_of(tensor)] = input.name;
  if (!input.formula.empty())
    return formula_source(input.formula, tensor.sizes().vec(), tensor.scalar_type()) + grad;
  if (!tensor.is_contiguous() ||
      static_cast<int64_t>(tensor.storage().nbytes()) != tensor.numel() * tensor.element_size())
    return flat_literal(whole_storage(tensor)) + strided(tensor) + grad;
  const auto flat = tensor.reshape({-1});
  if (tensor.dim() == 1)
    return flat_literal(flat) + grad;
  return flat_literal(flat) + ".reshape(" + sizes_source(tensor.sizes().vec()) + ")" + grad;
}

} // namespace repro_minify
