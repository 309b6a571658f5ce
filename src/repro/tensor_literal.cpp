#include "core/number_text.h"
#include "repro/repro_parts.h"

#include "core/escape.h"
#include "core/text.h"
#include "program/formula.h"
#include "program/values.h"

#include <ATen/ATen.h>

#include <cmath>

namespace repro_minify {
namespace {

/// The spellings in which the two languages differ.
struct Syntax {
  const char *open, *close; ///< around a list
  const char *yes, *no, *nan, *infinity;
  const char *complex;
  const char *requires_grad;
  std::string (*dtype)(at::ScalarType);
  std::string (*integer)(int64_t);
};

std::string python_dtype(at::ScalarType type) {
  return "torch." + dtype_name(type);
}

std::string python_integer(int64_t value) {
  return std::to_string(value);
}

constexpr Syntax cpp = {"{",
                        "}",
                        "true",
                        "false",
                        "NAN",
                        "INFINITY",
                        "c10::complex<double>",
                        ".set_requires_grad(true)",
                        dtype_source,
                        integer_literal};
constexpr Syntax python = {
    "[",          "]",           "True", "False", "float('nan')", "float('inf')", "complex", ".requires_grad_()",
    python_dtype, python_integer};

const Syntax &syntax_of(Language language) {
  return language == Language::Cpp ? cpp : python;
}

/// The shortest text that reads back as the same number.
template <typename T> std::string number(T value, const Syntax &syntax) {
  if (std::isnan(value))
    return syntax.nan;
  if (std::isinf(value))
    return (value > 0 ? "" : "-") + std::string(syntax.infinity);
  if constexpr (std::is_same_v<T, float>)
    return float_literal(value);
  else
    return double_literal(value);
}

template <typename T> std::string complex_number(T real, T imaginary, const Syntax &syntax) {
  return std::string(syntax.complex) + "(" + number(real, syntax) + ", " + number(imaginary, syntax) + ")";
}

std::string element(const at::Tensor &flat, int64_t i, const Syntax &syntax) {
  switch (flat.scalar_type()) {
  case at::kFloat:
    return number(flat.data_ptr<float>()[i], syntax);
  case at::kDouble:
    return number(flat.data_ptr<double>()[i], syntax);
  case at::kHalf:
    return number(static_cast<float>(flat.data_ptr<at::Half>()[i]), syntax);
  case at::kBFloat16:
    return number(static_cast<float>(flat.data_ptr<at::BFloat16>()[i]), syntax);
  case at::kBool:
    return flat.data_ptr<bool>()[i] ? syntax.yes : syntax.no;
  case at::kByte:
    return std::to_string(flat.data_ptr<uint8_t>()[i]);
  case at::kChar:
    return std::to_string(flat.data_ptr<int8_t>()[i]);
  case at::kShort:
    return std::to_string(flat.data_ptr<int16_t>()[i]);
  case at::kInt:
    return std::to_string(flat.data_ptr<int32_t>()[i]);
  case at::kLong:
    return syntax.integer(flat.data_ptr<int64_t>()[i]);
  case at::kComplexFloat: {
    const auto value = flat.data_ptr<c10::complex<float>>()[i];
    return complex_number(value.real(), value.imag(), syntax);
  }
  case at::kComplexDouble: {
    const auto value = flat.data_ptr<c10::complex<double>>()[i];
    return complex_number(value.real(), value.imag(), syntax);
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

std::string cpp_literal(const at::Tensor &flat) {
  const auto dtype = dtype_source(flat.scalar_type());
  if (flat.numel() == 0)
    return "torch::empty({0}, " + dtype + ")";
  std::vector<std::string> words;
  bool plain = flat.numel() <= 64; // a braced list must be of one C++ type, and is slow to compile
  for (int64_t i = 0; i < flat.numel(); ++i) {
    words.push_back(element(flat, i, cpp));
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

/// Leaves out a dtype that torch.tensor() takes from the elements.
std::string python_literal(const at::Tensor &flat) {
  const at::ScalarType type = flat.scalar_type();
  const bool follows = type == at::kFloat || (flat.numel() > 0 && (type == at::kLong || type == at::kBool));
  std::vector<std::string> words;
  for (int64_t i = 0; i < flat.numel(); ++i)
    words.push_back(element(flat, i, python));
  return "torch.tensor([" + wrapped(words) + (follows ? "])" : "], dtype=" + python_dtype(type) + ")");
}

/// A one-dimensional tensor, all of `flat`.
std::string flat_literal(const at::Tensor &flat, Language language) {
  return language == Language::Cpp ? cpp_literal(flat) : python_literal(flat);
}

std::string list_source(const std::vector<int64_t> &sizes, const Syntax &syntax) {
  return syntax.open + joined_numbers(sizes) + syntax.close;
}

/// Returns the Python expression for a formula, as formula_source() does for C++.
std::string python_formula(const Formula &formula, const at::Tensor &tensor) {
  const at::ScalarType type = tensor.scalar_type();
  const std::string shape = list_source(tensor.sizes().vec(), python);
  const std::string dtype = type == at::kFloat ? "" : ", dtype=" + python_dtype(type);
  const std::string function = std::string("torch.") + function_name(formula.kind) + "(";
  if (formula.kind == Formula::Kind::Arange)
    return function + std::to_string(tensor.numel()) + ", dtype=" + python_dtype(type) + ")" +
           (tensor.dim() == 1 ? "" : ".reshape(" + shape + ")");
  if (formula.kind == Formula::Kind::Full)
    return function + shape + ", " + element(tensor.reshape({-1}), 0, python) + dtype + ")";
  if (!is_drawn(formula))
    return function + shape + dtype + ")";
  const std::string drawn =
      function + shape + ", generator=torch.Generator().manual_seed(" + std::to_string(formula.seed) + ")";
  const bool is_half = type == at::kHalf || type == at::kBFloat16; // drawn in float32 and rounded
  return is_half ? drawn + ").to(" + python_dtype(type) + ")" : drawn + dtype + ")";
}

/// All the elements of the memory a tensor lives in.
at::Tensor whole_storage(const at::Tensor &tensor) {
  const auto elements = static_cast<int64_t>(tensor.storage().nbytes() / tensor.element_size());
  return at::empty({0}, tensor.options()).set_(tensor.storage(), 0, {elements}, {1});
}

std::string strided(const at::Tensor &tensor, const Syntax &syntax) {
  return ".as_strided(" + list_source(tensor.sizes().vec(), syntax) + ", " +
         list_source(tensor.strides().vec(), syntax) + ", " + std::to_string(tensor.storage_offset()) + ")";
}

std::string shaped_literal(const at::Tensor &tensor, Language language) {
  const std::string flat = flat_literal(tensor.reshape({-1}), language);
  return tensor.dim() == 1 ? flat : flat + ".reshape(" + list_source(tensor.sizes().vec(), syntax_of(language)) + ")";
}

/// Names the places that hold something, and the values there.
std::string sparse_literal(const at::Tensor &tensor, Language language) {
  const std::string arguments = "(" + shaped_literal(tensor._indices(), language) + ", " +
                                shaped_literal(tensor._values(), language) + ", " +
                                list_source(tensor.sizes().vec(), syntax_of(language));
  if (language == Language::Python)
    return "torch.sparse_coo_tensor" + arguments + (tensor.is_coalesced() ? ", is_coalesced=True)" : ")");
  return "at::sparse_coo_tensor" + arguments + ")" + (tensor.is_coalesced() ? "._coalesced_(true)" : "");
}

} // namespace

std::string TensorLiterals::expression(const ProgramInput &input, const std::string &name) {
  const Syntax &syntax = syntax_of(language_);
  const auto tensor = input.value.toTensor().detach();
  const std::string grad = keeps_grad_ && input.value.toTensor().requires_grad() ? syntax.requires_grad : "";
  if (tensor.layout() == at::kSparse)
    return sparse_literal(tensor, language_) + grad;
  if (!storage_of(tensor))
    throw std::runtime_error("a tensor without storage has no literal");
  const auto shared = storages_.find(storage_of(tensor));
  shares_ |= shared != storages_.end();
  if (shared != storages_.end())
    return shared->second + ".detach()" + strided(tensor, syntax) + grad;
  storages_[storage_of(tensor)] = name;
  if (input.formula)
    return (language_ == Language::Cpp ? formula_source(*input.formula, tensor.sizes().vec(), tensor.scalar_type())
                                       : python_formula(*input.formula, tensor)) +
           grad;
  if (!tensor.is_contiguous() ||
      static_cast<int64_t>(tensor.storage().nbytes()) != tensor.numel() * tensor.element_size())
    return flat_literal(whole_storage(tensor), language_) + strided(tensor, syntax) + grad;
  return shaped_literal(tensor, language_) + grad;
}

} // namespace repro_minify
