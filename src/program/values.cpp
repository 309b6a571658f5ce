#include "program/values.h"

#include "core/text.h"
#include "program/shared_pages.h"
#include "program/value_digest.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <caffe2/serialize/in_memory_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>
#include <unordered_map>

namespace repro_minify {
namespace {

bool equal_tensors(const at::Tensor &a, const at::Tensor &b) {
  if (!a.defined() || !b.defined() || a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes())
    return a.defined() == b.defined() && !a.defined();
  try {
    return a.layout() == at::kStrided && b.layout() == at::kStrided && !a.is_quantized() && a.equal(b.to(a.device()));
  } catch (const c10::Error &) { // a dtype that LibTorch compares no tensors of
    return false;
  }
}

bool is_plain_strided(const at::Tensor &tensor) {
  return tensor.layout() == at::kStrided && !tensor.is_nested() && tensor.has_storage() && !tensor.is_quantized() &&
         !tensor.is_conj() && !tensor.is_neg() && tensor.storage().nbytes() > 0;
}

at::ScalarType widened(at::ScalarType type) {
  if (at::isComplexType(type))
    return at::kComplexDouble;
  return at::isFloatingType(type) ? at::kDouble : type;
}

/// Null where it is not known: an undefined tensor has no type that could be asked for.
c10::TupleTypePtr type_of_tuple(const c10::IValue &tuple) {
  try {
    return tuple.type()->expect<c10::TupleType>();
  } catch (const c10::Error &) {
    return nullptr;
  }
}

/// LibTorch clones no tensor that is quantised by channel with zero points that are floats.
at::Tensor copy_of(const at::Tensor &tensor) {
  if (!tensor.is_quantized() || tensor.qscheme() != at::kPerChannelAffineFloatQParams)
    return tensor.clone();
  return at::_make_per_channel_quantized_tensor(tensor.int_repr(), tensor.q_per_channel_scales().clone(),
                                                tensor.q_per_channel_zero_points().clone(),
                                                tensor.q_per_channel_axis());
}

/// The pickler takes no undefined tensor: an empty one goes in its place, and a list says which ones they are.
c10::IValue without_undefined(const c10::IValue &value) {
  c10::List<int64_t> undefined;
  int64_t count = 0;
  const auto defined = map_tensors(value, [&](const at::Tensor &tensor) {
    if (!tensor.defined())
      undefined.push_back(count);
    ++count;
    return tensor.defined() ? tensor : at::empty({0});
  });
  // A value without any goes as it is: what it shares with itself stays shared.
  return c10::ivalue::Tuple::create({undefined.empty() ? value : defined, undefined});
}

c10::IValue with_undefined(const c10::IValue &pair) {
  const auto &parts = pair.toTupleRef().elements();
  const auto positions = parts[1].toIntVector();
  if (positions.empty())
    return parts[0];
  int64_t count = 0;
  return map_tensors(parts[0], [&](const at::Tensor &tensor) {
    return std::binary_search(positions.begin(), positions.end(), count++) ? at::Tensor() : tensor;
  });
}

const std::string opaque_classes = "__torch__.torch.classes.";

std::string class_name(const c10::IValue &object) {
  return object.toObjectRef().type()->name()->qualifiedName();
}

std::string digest_of_state(const c10::IValue &object) {
  auto *get_state = object.toObjectRef().type()->findMethod("__getstate__");
  if (!get_state)
    return "";
  Digest digest;
  digest.add(class_name(object));
  return add_value(digest, (*get_state)({object})) ? digest.text() : "";
}

/// A copy by the object's own __getstate__ and __setstate__; packed parameters themselves, as nothing writes to them.
c10::IValue copy_of_object(const c10::IValue &object) {
  const std::string name = class_name(object);
  const bool is_packed = name.starts_with(opaque_classes + "quantized.") || name.starts_with(opaque_classes + "rnn.");
  return is_packed ? object : object.deepcopy();
}

} // namespace

int64_t version_of(const at::Tensor &tensor) {
  return tensor.defined() && !tensor.is_inference() ? tensor._version() : 0;
}

void *storage_of(const at::Tensor &tensor) {
  return tensor.defined() && tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

at::Tensor SharedCloner::clone(const at::Tensor &tensor) {
  if (!tensor.defined())
    return tensor;
  at::NoGradGuard no_grad;
  const bool keeps_grad = options_.requires_grad && tensor.requires_grad();
  at::Tensor source = tensor.detach();
  const auto type =
      options_.double_precision && !source.is_quantized() ? widened(source.scalar_type()) : source.scalar_type();
  const auto device = options_.device.value_or(source.device());
  at::Tensor result;
  if (is_plain_strided(source)) {
    const auto key = std::make_pair(storage_of(source), version_of(source));
    auto &whole = storages_[key];
    if (!whole.defined() || whole.scalar_type() != type) {
      const auto elements = static_cast<int64_t>(source.storage().nbytes() / source.element_size());
      auto flat = at::empty({0}, source.options()).set_(source.storage(), 0, {elements}, {1});
      const bool stays_on_cpu = device.is_cpu() && source.is_cpu();
      const auto mapped = type == source.scalar_type() && stays_on_cpu ? mapped_copy(source.storage()) : std::nullopt;
      whole = mapped         ? at::empty({0}, source.options()).set_(*mapped, 0, {elements}, {1})
              : stays_on_cpu ? converted(flat, type)
                             : flat.to(device, type, /*non_blocking=*/false, /*copy=*/true);
      kept_alive_.push_back(tensor);
    }
    // set_ rather than a view: a view made here could not be written to in place under autograd.
    result = at::empty({0}, whole.options())
                 .set_(whole.storage(), source.storage_offset(), source.sizes(), source.strides());
  } else {
    result = type == source.scalar_type() && device == source.device() ? copy_of(source) : source.to(device, type);
  }
  if (keeps_grad)
    result.set_requires_grad(true);
  return result;
}

void SharedCloner::forget(void *storage) {
  std::erase_if(storages_, [&](const auto &entry) { return entry.first.first == storage; });
}

c10::IValue SharedCloner::clone(const c10::IValue &value) {
  if (is_opaque_object(value))
    return copy_of_object(value);
  return map_tensors(value, [this](const at::Tensor &tensor) { return clone(tensor); });
}

c10::IValue map_tensors(const c10::IValue &value, const std::function<at::Tensor(const at::Tensor &)> &change) {
  if (value.isTensor())
    return change(value.toTensor());
  if (value.isTuple()) {
    std::vector<c10::IValue> elements;
    for (const auto &element : value.toTupleRef().elements())
      elements.push_back(map_tensors(element, change));
    const auto type = type_of_tuple(value);
    return type && type->schema() ? c10::ivalue::Tuple::createNamed(std::move(elements), type)
                                  : c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isList()) {
    c10::impl::GenericList copy(value.type()->expectRef<c10::ListType>().getElementType());
    for (const c10::IValue &element : value.toListRef())
      copy.push_back(map_tensors(element, change));
    return copy;
  }
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    c10::impl::GenericDict copy(dict.keyType(), dict.valueType());
    for (const auto &entry : dict)
      copy.insert(entry.key(), map_tensors(entry.value(), change));
    return copy;
  }
  return value;
}

void for_each_tensor(const c10::IValue &value, const std::function<void(const at::Tensor &)> &visit) {
  std::vector<c10::IValue> leaves;
  flatten_value(value, leaves);
  for (const auto &leaf : leaves)
    if (leaf.isTensor() && leaf.toTensor().defined())
      visit(leaf.toTensor());
}

void flatten_value(const c10::IValue &value, std::vector<c10::IValue> &leaves) {
  if (value.isTuple()) {
    for (const auto &element : value.toTupleRef().elements())
      flatten_value(element, leaves);
  } else if (value.isTensorList() ||
             (value.isList() && !value.isIntList() && !value.isDoubleList() && !value.isBoolList())) {
    for (const c10::IValue &element : value.toListRef())
      flatten_value(element, leaves);
  } else if (value.isGenericDict()) {
    for (const auto &entry : value.toGenericDict())
      flatten_value(entry.value(), leaves);
  } else {
    leaves.push_back(value);
  }
}

std::string dtype_name(at::ScalarType type) {
  const std::string name(c10::getDtypeNames(type).first);
  return name.empty() ? c10::toString(type) : name;
}

std::string describe(const c10::IValue &value) {
  if (value.isTuple() && !type_of_tuple(value))
    return "Tuple";
  if (!value.isTensor())
    return value.isNone() ? "None" : value.type()->annotation_str();
  const auto &tensor = value.toTensor();
  if (!tensor.defined())
    return "None";
  if (tensor.is_nested())
    return dtype_name(tensor.scalar_type()) + " nested";
  std::string text = dtype_name(tensor.scalar_type()) + "[" + joined_numbers(tensor.sizes().vec()) + "]";
  if (tensor.layout() != at::kStrided) {
    std::ostringstream layout;
    layout << ' ' << tensor.layout();
    text += layout.str();
  }
  return text;
}

std::optional<double> rounding_unit(c10::ScalarType dtype) {
  switch (dtype) {
  case at::kHalf:
    return std::numeric_limits<at::Half>::epsilon();
  case at::kBFloat16:
    return std::numeric_limits<at::BFloat16>::epsilon();
  case at::kFloat:
    return std::numeric_limits<float>::epsilon();
  case at::kDouble:
    return std::numeric_limits<double>::epsilon();
  default:
    return std::nullopt;
  }
}

std::optional<c10::ScalarType> dtype_named(const std::string &name) {
  static const auto by_name = [] {
    std::map<std::string, c10::ScalarType> names;
    for (int i = 0; i < static_cast<int>(c10::ScalarType::Undefined); ++i)
      names.emplace(dtype_name(static_cast<c10::ScalarType>(i)), static_cast<c10::ScalarType>(i));
    return names;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? std::nullopt : std::optional(found->second);
}

std::vector<char> pickled(const c10::IValue &value) {
  return torch::jit::pickle_save(without_undefined(value));
}

c10::IValue unpickled(std::string_view bytes) {
  // torch::jit::pickle_load() does the same, but wants a copy of its own.
  caffe2::serialize::PyTorchStreamReader reader(
      std::make_unique<caffe2::serialize::MemoryReadAdapter>(bytes.data(), static_cast<off_t>(bytes.size())));
  return with_undefined(torch::jit::readArchiveAndTensors("data", "", "", {}, {}, {}, reader));
}

bool is_opaque_class(const c10::TypePtr &type) {
  const auto given = type->cast<c10::ClassType>();
  return given && given->name() && given->name()->qualifiedName().starts_with(opaque_classes);
}

bool is_opaque_object(const c10::IValue &value) {
  return value.isObject() && is_opaque_class(value.toObjectRef().type());
}

bool same_contents(const c10::IValue &a, const c10::IValue &b) {
  std::vector<c10::IValue> x, y;
  flatten_value(a, x);
  flatten_value(b, y);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const c10::IValue &one, const c10::IValue &other) {
    if (one.isTensor() && other.isTensor())
      return equal_tensors(one.toTensor(), other.toTensor());
    return one.tagKind() == other.tagKind() && one == other;
  });
}

const std::string &digest_of_object(const c10::IValue &object) {
  // Unpacking weights takes its time. What is in here lives on, so that its address is not used again.
  static thread_local std::unordered_map<const void *, std::pair<c10::IValue, std::string>> known;
  const auto [entry, is_new] = known.try_emplace(&object.toObjectRef(), object, std::string());
  if (is_new)
    entry->second.second = digest_of_state(object);
  return entry->second.second;
}

} // namespace repro_minify
