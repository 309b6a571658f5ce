#include "program/saved_values.h"

#include <ATen/ATen.h>

namespace repro_minify {
namespace {

using pickle::CannotRead;
using Saved = pickle::Value; ///< LibTorch has a Value too
using SavedKind = Saved::Kind;
using Arguments = std::vector<const Saved *>;

[[noreturn]] void damaged() {
  throw CannotRead("holds a tensor that is damaged, or of a PyTorch that is not known here");
}

const Saved &at_index(const Arguments &arguments, size_t index) {
  if (index >= arguments.size())
    damaged();
  return *arguments[index];
}

int64_t integer(const Saved &value) {
  if (!value.is(SavedKind::Int))
    damaged();
  return value.integer;
}

double number(const Saved &value) {
  if (!value.is(SavedKind::Float) && !value.is(SavedKind::Int))
    damaged();
  return value.is(SavedKind::Float) ? value.number : static_cast<double>(value.integer);
}

std::vector<int64_t> integers(const Saved &value) {
  if (value.name() == "torch.Size" && value.argument && value.argument->items.size() == 1)
    return integers(*value.argument->items[0]);
  if ((!value.is(SavedKind::Tuple) && !value.is(SavedKind::List)) || value.items.size() > 64)
    damaged();
  std::vector<int64_t> numbers;
  for (const Saved *item : value.items)
    numbers.push_back(integer(*item));
  return numbers;
}

at::ScalarType element_type(std::string_view storage) {
  static const auto types = [] {
    std::map<std::string, at::ScalarType> known = {{"UntypedStorage", at::kByte}};
    for (int number = 0; number <= static_cast<int>(at::kQUInt2x4); ++number)
      if (const auto type = static_cast<at::ScalarType>(number); type != at::kComplexHalf)
        known.emplace(std::string(c10::toString(type)) + "Storage", type);
    return known;
  }();
  return types.at(std::string(storage));
}

/// Where a tensor lies in its storage: all of it inside.
struct TensorPlace {
  int64_t offset = 0;
  std::vector<int64_t> sizes, strides;
};

/// How many elements the storage has to have; throws for what no storage has.
int64_t elements_needed(const TensorPlace &place) {
  int64_t last = place.offset;
  bool is_empty = false;
  if (place.offset < 0 || place.sizes.size() != place.strides.size())
    damaged();
  int64_t elements = 1;
  for (size_t i = 0; i < place.sizes.size(); ++i) {
    int64_t reach = 0;
    if (place.sizes[i] < 0 || place.strides[i] < 0 || __builtin_mul_overflow(elements, place.sizes[i], &elements) ||
        __builtin_mul_overflow(std::max<int64_t>(place.sizes[i] - 1, 0), place.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      damaged();
    is_empty |= place.sizes[i] == 0;
  }
  return is_empty ? 0 : last + 1;
}

TensorPlace place_in(const Arguments &arguments) {
  return {integer(at_index(arguments, 1)), integers(at_index(arguments, 2)), integers(at_index(arguments, 3))};
}

TensorPlace place_of(const Arguments &arguments, const c10::Storage &storage, size_t element_size) {
  TensorPlace place = place_in(arguments);
  if (static_cast<uint64_t>(elements_needed(place)) > storage.nbytes() / element_size)
    damaged();
  return place;
}

void require_grad_if(const Saved &wanted, at::Tensor &tensor) {
  if (wanted.is(SavedKind::Bool) && wanted.integer && (tensor.is_floating_point() || tensor.is_complex()))
    tensor.set_requires_grad(true);
}

/// Sets the bits of the tensor that `metadata` names: {'conj': True, 'neg': True}.
void set_bits(const Saved &metadata, at::Tensor &tensor) {
  if (!metadata.is(SavedKind::Dict))
    return;
  for (const auto &[key, value] : metadata.entries) {
    if (!value->is(SavedKind::Bool) || !value->integer)
      continue;
    if (key->text == "conj" && tensor.is_complex())
      tensor._set_conj(true);
    else if (key->text == "neg")
      tensor._set_neg(true);
  }
}

std::optional<at::Layout> layout_of(const Saved &value) {
  static const std::map<std::string_view, at::Layout> names = {{"torch.sparse_coo", at::kSparse},
                                                               {"torch.sparse_csr", at::kSparseCsr},
                                                               {"torch.sparse_csc", at::kSparseCsc},
                                                               {"torch.sparse_bsr", at::kSparseBsr},
                                                               {"torch.sparse_bsc", at::kSparseBsc}};
  if (value.is(SavedKind::Int)) { // as LibTorch's pickler has it
    for (const auto &[name, layout] : names)
      if (static_cast<int64_t>(layout) == value.integer)
        return layout;
    return std::nullopt;
  }
  const bool is_named = value.is(SavedKind::Object) && value.name() == "torch.serialization._get_layout" &&
                        value.argument->items.size() == 1;
  const auto found = names.find(is_named ? value.argument->items[0]->text : "");
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

std::optional<at::ScalarType> dtype_of(const Saved &global) {
  static const std::map<std::string_view, at::ScalarType> names = {{"float32", at::kFloat},
                                                                   {"float64", at::kDouble},
                                                                   {"float16", at::kHalf},
                                                                   {"bfloat16", at::kBFloat16},
                                                                   {"uint8", at::kByte},
                                                                   {"int8", at::kChar},
                                                                   {"int16", at::kShort},
                                                                   {"int32", at::kInt},
                                                                   {"int64", at::kLong},
                                                                   {"bool", at::kBool},
                                                                   {"complex64", at::kComplexFloat},
                                                                   {"complex128", at::kComplexDouble},
                                                                   {"complex32", at::kComplexHalf},
                                                                   {"uint16", at::kUInt16},
                                                                   {"uint32", at::kUInt32},
                                                                   {"uint64", at::kUInt64},
                                                                   {"float8_e4m3fn", at::kFloat8_e4m3fn},
                                                                   {"float8_e5m2", at::kFloat8_e5m2},
                                                                   {"float8_e4m3fnuz", at::kFloat8_e4m3fnuz},
                                                                   {"float8_e5m2fnuz", at::kFloat8_e5m2fnuz},
                                                                   {"qint8", at::kQInt8},
                                                                   {"quint8", at::kQUInt8},
                                                                   {"qint32", at::kQInt32}};
  if (!global.is(SavedKind::Global) || global.module != "torch")
    return std::nullopt;
  const auto found = names.find(global.text);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

int64_t elements_needed(const Saved &tensor) {
  return elements_needed(place_in(tensor.argument->items));
}

const at::Tensor *SavedTensors::of(const Saved &object) {
  const auto known = made_.find(&object);
  if (known != made_.end())
    return &known->second;
  auto tensor = made(object);
  return tensor ? &made_.emplace(&object, std::move(*tensor)).first->second : nullptr;
}

std::optional<at::Tensor> SavedTensors::made(const Saved &object) {
  const std::string name = object.name();
  constexpr std::string_view prefix = "torch._utils.";
  if (name.compare(0, prefix.size(), prefix) != 0)
    return std::nullopt;
  const std::string function = name.substr(prefix.size());
  const auto &arguments = object.argument->items;
  try {
    if (function == "_rebuild_tensor_v2" || function == "_rebuild_tensor")
      return strided(arguments, std::nullopt);
    if (function == "_rebuild_tensor_v3") {
      const auto dtype = dtype_of(at_index(arguments, 6));
      if (!dtype)
        throw CannotRead("holds a tensor of an unknown dtype");
      return strided(arguments, dtype);
    }
    if (function == "_rebuild_parameter" || function == "_rebuild_parameter_with_state")
      return parameter(arguments);
    if (function == "_rebuild_qtensor")
      return quantised(arguments);
    if (function == "_rebuild_sparse_tensor")
      return sparse(arguments);
  } catch (const c10::Error &) {
    damaged();
  }
  if (function == "_rebuild_meta_tensor_no_storage")
    throw CannotRead("holds a tensor of the meta device, which has no values");
  throw CannotRead("holds a tensor of a kind that cannot be read (" + function.substr(0, 60) +
                   "); save a plain one: x.detach().cpu().contiguous()");
}

at::Tensor SavedTensors::strided(const Arguments &arguments, std::optional<at::ScalarType> dtype) {
  const auto id = pickle::storage_id(at_index(arguments, 0));
  if (id.location == "meta")
    throw CannotRead("holds a tensor of the meta device, which has no values");
  const at::ScalarType type = dtype.value_or(element_type(id.type));
  const c10::Storage &bytes = storage(std::string(id.key));
  if (at::isQIntType(type))
    damaged();
  const TensorPlace place = place_of(arguments, bytes, c10::elementSize(type));
  at::Tensor tensor = at::empty({0}, type);
  tensor.set_(bytes, place.offset, place.sizes, place.strides);
  if (const size_t metadata = dtype ? 7 : 6; arguments.size() > metadata)
    set_bits(*arguments[metadata], tensor);
  if (arguments.size() > 4)
    require_grad_if(*arguments[4], tensor);
  return tensor;
}

at::Tensor SavedTensors::quantised(const Arguments &arguments) {
  const auto id = pickle::storage_id(at_index(arguments, 0));
  const at::ScalarType type = element_type(id.type);
  const c10::Storage &bytes = storage(std::string(id.key));
  const Saved &quantiser = at_index(arguments, 4);
  if (!at::isQIntType(type) || !quantiser.is(SavedKind::Tuple))
    damaged();
  const std::string scheme = at_index(quantiser.items, 0).name();
  const TensorPlace place = place_of(arguments, bytes, c10::elementSize(type));
  at::Tensor tensor;
  if (scheme == "torch.per_tensor_affine") {
    tensor = at::_empty_affine_quantized({0}, at::TensorOptions(type), number(at_index(quantiser.items, 1)),
                                         integer(at_index(quantiser.items, 2)));
  } else if (scheme == "torch.per_channel_affine" || scheme == "torch.per_channel_affine_float_qparams") {
    const at::Tensor scales = required(at_index(quantiser.items, 1)), zeros = required(at_index(quantiser.items, 2));
    const int64_t axis = integer(at_index(quantiser.items, 3));
    if (axis < 0 || axis >= static_cast<int64_t>(place.sizes.size()) ||
        scales.numel() != place.sizes[static_cast<size_t>(axis)] || zeros.numel() != scales.numel())
      damaged();
    tensor = at::_empty_per_channel_affine_quantized(place.sizes, scales, zeros, axis, at::TensorOptions(type));
  } else {
    throw CannotRead("holds a tensor quantised in a way that is not known here (" + scheme.substr(0, 60) + ")");
  }
  tensor.set_(bytes, place.offset, place.sizes, place.strides);
  return tensor;
}

/// From Python: layout, (indices, values, size[, is_coalesced]), or with two tensors of indices (compressed). From
/// LibTorch: layout, size, requires_grad, then the tensors.
at::Tensor SavedTensors::sparse(const Arguments &arguments) {
  const auto layout = layout_of(at_index(arguments, 0));
  if (!layout)
    throw CannotRead("holds a sparse tensor of a layout that is not known here");
  const bool from_python = !arguments[0]->is(SavedKind::Int);
  const size_t indices = *layout == at::kSparse ? 1 : 2;
  const Arguments &parts = from_python ? at_index(arguments, 1).items : arguments;
  const size_t first = from_python ? 0 : 3;
  const auto sizes = integers(at_index(parts, from_python ? indices + 1 : 1));
  const at::Tensor rows = required(at_index(parts, first)), values = required(at_index(parts, first + indices));
  at::Tensor tensor;
  if (*layout == at::kSparse) {
    std::optional<bool> coalesced;
    if (from_python && parts.size() > 3 && parts[3]->is(SavedKind::Bool))
      coalesced = parts[3]->integer != 0;
    at::_validate_sparse_coo_tensor_args(rows, values, sizes, coalesced);
    tensor = at::_sparse_coo_tensor_unsafe(rows, values, sizes, values.options().layout(at::kSparse), coalesced);
  } else {
    tensor = at::sparse_compressed_tensor(rows, required(at_index(parts, first + 1)), values, sizes,
                                          values.options().layout(*layout));
  }
  if (!from_python)
    require_grad_if(at_index(arguments, 2), tensor);
  return tensor;
}

at::Tensor SavedTensors::parameter(const Arguments &arguments) {
  at::Tensor tensor = required(at_index(arguments, 0));
  tensor = tensor.detach();
  require_grad_if(at_index(arguments, 1), tensor);
  return tensor;
}

at::Tensor SavedTensors::required(const Saved &value) {
  if (++depth_ > 8) // a tensor that is made of itself
    damaged();
  const at::Tensor *tensor = value.is(SavedKind::Object) ? of(value) : nullptr;
  --depth_;
  if (!tensor)
    damaged();
  return *tensor;
}

const c10::Storage &SavedTensors::storage(const std::string &key) {
  const auto known = storages_.find(key);
  return known != storages_.end() ? known->second : storages_.emplace(key, bytes_(key)).first->second;
}

} // namespace repro_minify
