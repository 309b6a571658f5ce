#include "program/saved_values.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace repro_minify {
namespace {

using pickle::CannotRead;
using Saved = pickle::Value; ///< LibTorch has a Value too
using SavedKind = Saved::Kind;

/// A list that holds itself has no end, and one that holds another twice, forty times over, none to speak of.
constexpr int deepest_nesting = 100;
constexpr int64_t most_values = int64_t{1} << 22;

constexpr const char *only_python =
    ", which only Python can make; save what is in it as plain tensors, numbers, lists, "
    "tuples and dicts: tuple(x), dict(x), vars(x)";

class Converter {
public:
  explicit Converter(const StorageBytes &storage) : tensors_(storage) {}

  c10::IValue convert(const Saved &value) {
    if (++depth_ > deepest_nesting)
      throw CannotRead("is nested too deeply, or in itself");
    if (++count_ > most_values)
      throw CannotRead("holds too many values; save tensors, not lists of numbers");
    c10::IValue result = by_kind(value);
    --depth_;
    return result;
  }

private:
  c10::IValue by_kind(const Saved &value) {
    switch (value.kind) {
    case SavedKind::None:
      return {};
    case SavedKind::Bool:
      return value.integer != 0;
    case SavedKind::Int:
      return value.integer;
    case SavedKind::Float:
      return value.number;
    case SavedKind::Text:
      return std::string(value.text);
    case SavedKind::List:
      return list(value);
    case SavedKind::Tuple:
      return c10::ivalue::Tuple::create(elements(value));
    case SavedKind::Dict:
      return dict(value);
    case SavedKind::Global:
      return named(value);
    case SavedKind::Object:
      return object(value);
    case SavedKind::Long:
      throw CannotRead("holds an integer of more than 64 bits");
    case SavedKind::Bytes:
      throw CannotRead("holds bytes, which TorchScript has no type for");
    case SavedKind::Set:
      throw CannotRead("holds a set, which TorchScript has no type for");
    case SavedKind::Persistent:
      throw CannotRead("holds a bare storage; save the tensor");
    }
    return {};
  }

  std::vector<c10::IValue> elements(const Saved &value) {
    std::vector<c10::IValue> result;
    result.reserve(value.items.size());
    for (const Saved *item : value.items)
      result.push_back(convert(*item));
    return result;
  }

  c10::IValue list(const Saved &value) {
    c10::impl::GenericList result(c10::AnyType::get());
    for (auto &element : elements(value))
      result.push_back(std::move(element));
    return result;
  }

  /// A dict of TorchScript knows the type of its keys.
  c10::IValue dict(const Saved &value) {
    c10::TypePtr key_type = c10::StringType::get();
    std::vector<std::pair<c10::IValue, c10::IValue>> entries;
    for (const auto &[key, entry] : value.entries) {
      c10::IValue made = convert(*key);
      if (!made.isString() && !made.isInt() && !made.isDouble() && !made.isBool())
        throw CannotRead("holds a dict whose keys are neither text nor numbers");
      if (!entries.empty() && made.type()->kind() != entries[0].first.type()->kind())
        throw CannotRead("holds a dict whose keys are of several types");
      key_type = made.type();
      entries.emplace_back(std::move(made), convert(*entry));
    }
    c10::impl::GenericDict result(key_type, c10::AnyType::get());
    for (const auto &[key, entry] : entries)
      result.insert_or_assign(key, entry);
    return result;
  }

  /// torch.float32 is a number in TorchScript.
  static c10::IValue named(const Saved &value) {
    if (const auto dtype = dtype_of(value))
      return static_cast<int64_t>(*dtype);
    throw CannotRead("holds '" + value.name().substr(0, 200) + "'" + only_python);
  }

  c10::IValue object(const Saved &value) {
    const std::string name = value.name();
    if (const auto array = pickle::array_of(value)) {
      const at::Tensor tensor = to_tensor(*array);
      const bool is_number = array->shape.empty() && name.ends_with("multiarray.scalar");
      return is_number ? number(tensor) : c10::IValue(tensor);
    }
    if (const at::Tensor *made = tensors_.of(value))
      return *made;
    const auto &arguments = value.argument->items;
    if (name == "collections.OrderedDict" || name == "collections.defaultdict")
      return dict(value);
    if (name == "torch.Size" && arguments.size() == 1)
      return convert(*arguments[0]);
    if (name == "torch.device" && !arguments.empty() && arguments[0]->is(SavedKind::Text))
      return device(arguments);
    if (name == "builtins.complex" || name == "__builtin__.complex")
      return complex(arguments);
    if (name.ends_with("builtin__.set") || name.ends_with("builtin__.frozenset"))
      throw CannotRead("holds a set, which TorchScript has no type for");
    if (name.starts_with("torch.jit._pickle."))
      return tagged(name.substr(name.rfind('.') + 1), arguments);
    throw CannotRead("holds an object of the class '" + name.substr(0, 200) + "'" + only_python);
  }

  static c10::IValue number(const at::Tensor &tensor) {
    if (tensor.scalar_type() == at::kBool)
      return tensor.item<bool>();
    if (tensor.is_complex())
      return tensor.item<c10::complex<double>>();
    if (tensor.is_floating_point())
      return tensor.item<double>();
    if (tensor.scalar_type() == at::kUInt64 && tensor.view(at::kLong).item<int64_t>() < 0)
      throw CannotRead("holds a number beyond 2^63, which TorchScript has no type for");
    return tensor.to(at::kLong).item<int64_t>();
  }

  static c10::IValue device(const std::vector<const Saved *> &arguments) {
    std::string name(arguments[0]->text);
    if (arguments.size() > 1 && arguments[1]->is(SavedKind::Int))
      name += ":" + std::to_string(arguments[1]->integer);
    try {
      return c10::Device(name);
    } catch (const std::exception &) {
      throw CannotRead("names the unknown device '" + name.substr(0, 40) + "'");
    }
  }

  static c10::IValue complex(const std::vector<const Saved *> &arguments) {
    if (arguments.size() != 2 || !arguments[0]->is(SavedKind::Float) || !arguments[1]->is(SavedKind::Float))
      throw CannotRead("holds a complex number without a value");
    return c10::complex<double>(arguments[0]->number, arguments[1]->number);
  }

  /// Reads what LibTorch's own pickler adds: lists of one type, and the names of types. Throws CannotRead for other
  /// calls.
  c10::IValue tagged(const std::string &function, const std::vector<const Saved *> &arguments) {
    const bool is_list = function == "build_intlist" || function == "build_tensorlist" ||
                         function == "build_doublelist" || function == "build_boollist";
    if (arguments.empty() || (!is_list && function != "restore_type_tag"))
      throw CannotRead("holds a value of TorchScript that cannot be read (" + function.substr(0, 40) + ")");
    return convert(*arguments[0]);
  }

  SavedTensors tensors_;
  int depth_ = 0;
  int64_t count_ = 0;
};

at::ScalarType type_of(const pickle::Array &array) {
  static const std::map<std::string, at::ScalarType> types = {
      {"b1", at::kBool},  {"i1", at::kChar},   {"i2", at::kShort},        {"i4", at::kInt},           {"i8", at::kLong},
      {"u1", at::kByte},  {"u2", at::kUInt16}, {"u4", at::kUInt32},       {"u8", at::kUInt64},        {"f2", at::kHalf},
      {"f4", at::kFloat}, {"f8", at::kDouble}, {"c8", at::kComplexFloat}, {"c16", at::kComplexDouble}};
  return types.at(array.dtype);
}

/// In the order of this machine. A complex number is two.
std::string in_our_order(const pickle::Array &array) {
  std::string bytes(array.data());
  const size_t part = array.dtype[0] == 'c' ? array.element_size / 2 : array.element_size;
  if (array.swapped)
    for (size_t i = 0; i + part <= bytes.size(); i += part)
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                   bytes.begin() + static_cast<std::ptrdiff_t>(i + part));
  if (array.dtype == "b1")
    for (char &byte : bytes)
      byte = byte != 0;
  return bytes;
}

} // namespace

c10::Storage storage_with(std::string_view bytes) {
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes.size(), c10::GetAllocator(c10::kCPU));
  if (!bytes.empty())
    std::memcpy(storage.mutable_data(), bytes.data(), bytes.size());
  return storage;
}

at::Tensor to_tensor(const pickle::Array &array) {
  std::vector<int64_t> strides(array.shape.size());
  int64_t step = 1;
  for (size_t k = 0; k < strides.size(); ++k) {
    const size_t i = array.fortran ? k : strides.size() - 1 - k;
    strides[i] = step;
    step *= std::max<int64_t>(array.shape[i], 1);
  }
  at::Tensor tensor = at::empty({0}, type_of(array));
  tensor.set_(storage_with(in_our_order(array)), 0, array.shape, strides);
  return tensor;
}

c10::IValue to_values(const Saved &root, const StorageBytes &storage) {
  return Converter(storage).convert(root);
}

} // namespace repro_minify
