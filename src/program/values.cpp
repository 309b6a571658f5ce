#include "program/values.h"

#include "program/map_tensors.h"
#include "program/objects.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace repro_minify {
namespace {

bool is_plain_strided(const at::Tensor &tensor) {
  return tensor.layout() == at::kStrided && tensor.has_storage() && !tensor.is_quantized() && !tensor.is_conj() &&
         !tensor.is_neg() && tensor.storage().nbytes() > 0;
}

at::ScalarType widened(at::ScalarType type) {
  if (at::isComplexType(type))
    return at::kComplexDouble;
  return at::isFloatingType(type) ? at::kDouble : type;
}

void fnv(uint64_t &hash, const void *data, size_t size) {
  // Eight bytes a step: tensors of megabytes are hashed once each, but they are hashed.
  const auto *bytes = static_cast<const unsigned char *>(data);
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  }
  for (; i < size; ++i)
    hash = (hash ^ bytes[i]) * 0x100000001B3ull;
}

void fnv(uint64_t &hash, int64_t number) {
  fnv(hash, &number, sizeof number);
}

uint64_t hash_of_storage(const at::Tensor &tensor) {
  uint64_t hash = 0;
  fnv(hash, tensor.storage().data(), tensor.storage().nbytes());
  return hash;
}

/// The contents of large tensors, hashed once: a reduction asks for the same weights at every check. Known by the
/// tensor (a weak reference keeps its address from being used again) and the version of its contents.
class KnownContents {
public:
  uint64_t hash(const at::Tensor &tensor) {
    if (tensor.storage().nbytes() < worthwhile_bytes)
      return hash_of_storage(tensor);
    forget_the_dead();
    const auto [entry, is_new] = known_.try_emplace(tensor.unsafeGetTensorImpl(), tensor);
    if (!is_new && (entry->second.tensor.expired() || entry->second.version != version_of(tensor)))
      entry->second = Entry(tensor);
    return entry->second.hash;
  }

private:
  static constexpr size_t worthwhile_bytes = 4096;
  using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

  struct Entry {
    explicit Entry(const at::Tensor &of)
        : tensor(of.getIntrusivePtr()), version(version_of(of)), hash(hash_of_storage(of)) {}
    WeakTensor tensor;
    int64_t version;
    uint64_t hash;
  };

  void forget_the_dead() {
    if (known_.size() < next_sweep_)
      return;
    std::erase_if(known_, [](const auto &entry) { return entry.second.tensor.expired(); });
    next_sweep_ = std::max(size_t{1024}, 2 * known_.size());
  }

  std::unordered_map<c10::TensorImpl *, Entry> known_;
  size_t next_sweep_ = 1024;
};

uint64_t hash_of_tensor(const at::Tensor &tensor) {
  static thread_local KnownContents known;
  uint64_t hash = 0xCBF29CE484222325ull;
  if (!tensor.defined())
    return hash;
  fnv(hash, static_cast<int64_t>(tensor.scalar_type()));
  fnv(hash, tensor.requires_grad());
  fnv(hash, static_cast<int64_t>(tensor.layout()));
  fnv(hash, static_cast<int64_t>(tensor.device().type()));
  for (auto size : tensor.sizes())
    fnv(hash, size);
  if (tensor.layout() == at::kSparse) {
    fnv(hash, static_cast<int64_t>(hash_of_tensor(tensor._indices())));
    fnv(hash, static_cast<int64_t>(hash_of_tensor(tensor._values())));
  }
  if (tensor.layout() != at::kStrided || !tensor.has_storage() || !tensor.is_cpu())
    return hash;
  fnv(hash, tensor.is_conj() + 2 * tensor.is_neg());
  for (auto stride : tensor.strides())
    fnv(hash, stride);
  fnv(hash, tensor.storage_offset());
  fnv(hash, static_cast<int64_t>(known.hash(tensor)));
  return hash;
}

/// Null where it is not known: an undefined tensor has no type that could be asked for.
c10::TupleTypePtr type_of_tuple(const c10::IValue &tuple) {
  try {
    return tuple.type()->expect<c10::TupleType>();
  } catch (const c10::Error &) {
    return nullptr;
  }
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
      whole = flat.to(device, type, /*non_blocking=*/false, /*copy=*/true);
      kept_alive_.push_back(tensor);
    }
    // set_ rather than a view: a view made here could not be written to in place under autograd.
    result = at::empty({0}, whole.options())
                 .set_(whole.storage(), source.storage_offset(), source.sizes(), source.strides());
  } else {
    result = type == source.scalar_type() && device == source.device() ? source.clone() : source.to(device, type);
  }
  if (keeps_grad)
    result.set_requires_grad(true);
  return result;
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
  if (value.isTensor()) {
    if (value.toTensor().defined())
      visit(value.toTensor());
    return;
  }
  if (value.isTuple()) {
    for (const auto &element : value.toTupleRef().elements())
      for_each_tensor(element, visit);
  } else if (value.isTensorList() ||
             (value.isList() && !value.isIntList() && !value.isDoubleList() && !value.isBoolList())) {
    for (const c10::IValue &element : value.toListRef())
      for_each_tensor(element, visit);
  } else if (value.isGenericDict()) {
    for (const auto &entry : value.toGenericDict())
      for_each_tensor(entry.value(), visit);
  }
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

uint64_t hash_value(const c10::IValue &value) {
  if (value.isTensor())
    return hash_of_tensor(value.toTensor());
  if (is_opaque_object(value))
    return hash_of_object(value);
  if (holds_object(value)) {
    std::vector<c10::IValue> leaves;
    flatten_value(value, leaves);
    uint64_t hash = leaves.size();
    for (const auto &leaf : leaves)
      fnv(hash, static_cast<int64_t>(hash_value(leaf)));
    return hash;
  }
  std::ostringstream text;
  text << value;
  uint64_t hash = 1469598103934665603ull;
  fnv(hash, text.str().data(), text.str().size());
  return hash;
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
  std::string text = dtype_name(tensor.scalar_type()) + "[";
  for (int64_t i = 0; i < tensor.dim(); ++i)
    text += (i ? ", " : "") + std::to_string(tensor.size(i));
  text += "]";
  if (tensor.layout() != at::kStrided) {
    std::ostringstream layout;
    layout << ' ' << tensor.layout();
    text += layout.str();
  }
  return text;
}

} // namespace repro_minify
