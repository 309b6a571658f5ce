#include "check/compare_values.h"

#include <ATen/ATen.h>
#include <ATen/core/class_type.h>
#include <ATen/core/enum_type.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <tuple>

namespace repro_minify {
namespace {

bool is_real_number(const c10::IValue &value) {
  return value.isInt() || value.isBool() || value.isDouble();
}

bool is_number(const c10::IValue &value) {
  return is_real_number(value) || value.isComplexDouble();
}

/// Wide enough for every int64 and every double, so that ints and floats compare exactly, as in Python.
long double real_number(const c10::IValue &value) {
  if (value.isBool())
    return value.toBool() ? 1 : 0;
  return value.isInt() ? static_cast<long double>(value.toInt()) : static_cast<long double>(value.toDouble());
}

std::pair<long double, long double> complex_number(const c10::IValue &value) {
  if (!value.isComplexDouble())
    return {real_number(value), 0};
  return {value.toComplexDouble().real(), value.toComplexDouble().imag()};
}

bool number_equals_tensor(const c10::IValue &number, const at::Tensor &tensor) {
  try {
    return tensor.numel() == 1 && at::eq(tensor, number.toScalar()).item<bool>();
  } catch (const std::exception &) { // a layout or dtype without eq
    return false;
  }
}

/// Numbers first, then strings; the rest keeps the order it had.
std::tuple<int, long double, std::string> sort_key(const c10::IValue &key) {
  if (is_real_number(key) && !std::isnan(real_number(key)))
    return {0, real_number(key), ""};
  if (key.isString())
    return {1, 0, key.toStringRef()};
  return {2, 0, ""};
}

bool key_before(const std::pair<c10::IValue, c10::IValue> &a, const std::pair<c10::IValue, c10::IValue> &b) {
  return sort_key(a.first) < sort_key(b.first);
}

std::string tensor_type_name(const at::Tensor &tensor) {
  std::ostringstream out;
  out << dtype_name(tensor.scalar_type()) << tensor.sizes();
  if (tensor.layout() != at::kStrided)
    out << ' ' << tensor.layout();
  if (!tensor.is_cpu())
    out << " on " << tensor.device();
  return out.str();
}

/// torch.tensor of a list: numbers, or lists that are all of one length, of the widest type among them.
std::optional<at::Tensor> list_as_tensor(c10::ArrayRef<c10::IValue> elements) {
  std::vector<at::Tensor> parts;
  at::ScalarType type = at::kBool;
  for (const c10::IValue &element : elements) {
    std::optional<at::Tensor> part = as_tensor(element);
    if (!part || (element.isTensor() && part->dim() > 0) || (!parts.empty() && part->sizes() != parts[0].sizes()))
      return std::nullopt;
    type = at::promote_types(type, part->scalar_type());
    parts.push_back(part->detach());
  }
  if (parts.empty())
    return at::empty({0}, c10::get_default_dtype_as_scalartype());
  for (at::Tensor &part : parts)
    part = part.to(type);
  return at::stack(parts);
}

std::string layout_name(at::Layout layout) {
  std::ostringstream out;
  out << layout;
  return out.str();
}

TensorForm form_of_number(c10::ScalarType dtype) {
  TensorForm form;
  form.dtype = dtype;
  return form;
}

} // namespace

std::string type_name(const c10::IValue &value) {
  if (is_none(value))
    return "None";
  if (value.isTensor())
    return tensor_type_name(value.toTensor());
  if (value.isList())
    return "list of " + std::to_string(value.toListRef().size());
  if (value.isTuple())
    return "tuple of " + std::to_string(value.toTupleRef().elements().size());
  if (value.isGenericDict())
    return "dict of " + std::to_string(value.toGenericDict().size());
  if (value.isObject()) {
    const auto name = value.toObjectRef().type()->name();
    return name ? name->name() : "object";
  }
  if (value.isString())
    return "str";
  if (value.isComplexDouble())
    return "complex";
  if (value.isDouble())
    return "float";
  if (value.isDevice())
    return "device";
  return value.isInt() ? "int" : value.isBool() ? "bool" : value.tagKind();
}

bool is_none(const c10::IValue &value) {
  return value.isNone() || (value.isTensor() && !value.toTensor().defined());
}

bool equal_in_python(const c10::IValue &a, const c10::IValue &b) {
  if (is_none(a) || is_none(b))
    return is_none(a) && is_none(b);
  if (is_number(a) && is_number(b))
    return complex_number(a) == complex_number(b);
  if (is_number(a) && b.isTensor())
    return number_equals_tensor(a, b.toTensor());
  if (a.isString() && b.isString())
    return a.toStringRef() == b.toStringRef();
  if (a.isDevice() && b.isDevice())
    return a.toDevice() == b.toDevice();
  if (a.isEnum() && b.isEnum())
    return a.toEnumHolder()->type()->qualifiedClassName() == b.toEnumHolder()->type()->qualifiedClassName() &&
           a.toEnumHolder()->name() == b.toEnumHolder()->name();
  return a.is(b);
}

std::optional<at::Tensor> as_tensor(const c10::IValue &value) {
  if (is_none(value))
    return std::nullopt;
  if (value.isTensor())
    return value.toTensor();
  // Made in double and then cast: a value too large for float32 becomes an infinity there, and does not throw.
  if (value.isDouble())
    return at::scalar_tensor(value.toDouble(), at::kDouble).to(c10::get_default_dtype_as_scalartype());
  if (value.isComplexDouble())
    return at::scalar_tensor(value.toComplexDouble(), at::kComplexDouble)
        .to(at::toComplexType(c10::get_default_dtype_as_scalartype()));
  if (value.isInt())
    return at::scalar_tensor(value.toInt(), at::kLong);
  if (value.isBool())
    return at::scalar_tensor(value.toBool(), at::kBool);
  if (value.isList())
    return list_as_tensor(value.toListRef());
  if (value.isTuple())
    return list_as_tensor(value.toTupleRef().elements());
  return std::nullopt;
}

DictItems sorted_items(const c10::IValue &dict) {
  DictItems items;
  for (const auto &item : dict.toGenericDict())
    items.emplace_back(item.key(), item.value());
  std::stable_sort(items.begin(), items.end(), key_before);
  return items;
}

std::optional<c10::IValue> find_key(const DictItems &items, const c10::IValue &key) {
  auto at = std::lower_bound(items.begin(), items.end(), std::pair(key, c10::IValue()), key_before);
  for (; at != items.end() && sort_key(at->first) == sort_key(key); ++at)
    if (equal_in_python(at->first, key))
      return at->second;
  return std::nullopt;
}

std::string text_of_value(const c10::IValue &value) {
  constexpr std::size_t longest_text_shown = 80;
  if (is_number(value) || value.isDevice())
    return key_text(value);
  if (!value.isString())
    return type_name(value);
  const std::string &text = value.toStringRef();
  return text.size() <= longest_text_shown
             ? "'" + text + "'"
             : "'" + text.substr(0, longest_text_shown) + "'... of " + std::to_string(text.size()) + " bytes";
}

std::string text_and_type_of(const c10::IValue &value) {
  const std::string text = text_of_value(value), type = type_name(value);
  return text == type ? type : text + " (" + type + ")";
}

std::string key_text(const c10::IValue &key) {
  if (key.isString())
    return "'" + key.toStringRef() + "'";
  if (key.isTensor())
    return type_name(key);
  std::ostringstream out;
  out << key;
  return out.str();
}

TensorForm form_of(const at::Tensor &tensor) {
  TensorForm form;
  form.dtype = tensor.scalar_type();
  form.sizes = tensor.sizes().vec();
  form.layout = layout_name(tensor.layout());
  if (tensor.layout() == at::kStrided)
    form.strides = tensor.strides().vec();
  form.device = tensor.device().str();
  return form;
}

std::optional<TensorForm> form_of(const c10::IValue &value) {
  if (is_none(value))
    return std::nullopt;
  if (value.isTensor())
    return form_of(value.toTensor());
  if (value.isDouble())
    return form_of_number(at::kDouble);
  if (value.isComplexDouble())
    return form_of_number(at::kComplexDouble);
  if (value.isBool())
    return form_of_number(at::kBool);
  return value.isInt() ? std::optional(form_of_number(at::kLong)) : std::nullopt;
}

bool strides_differ(const TensorForm &ref, const TensorForm &res) {
  if (ref.sizes.size() != ref.strides.size() || ref.sizes != res.sizes || ref.strides.size() != res.strides.size() ||
      std::find(ref.sizes.begin(), ref.sizes.end(), 0) != ref.sizes.end())
    return false;
  for (std::size_t dim = 0; dim < ref.sizes.size(); ++dim)
    if (ref.sizes[dim] > 1 && ref.strides[dim] != res.strides[dim])
      return true;
  return false;
}

} // namespace repro_minify
