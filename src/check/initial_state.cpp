#include "check/initial_state.h"

#include "program/shared_pages.h"
#include "program/values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace repro_minify {
namespace {

/// Returns a hash of every byte of the storage, eight at a time. It need not be a strong one: no program writes bytes
/// in order to make it collide.
uint64_t hash_of_storage(const at::Tensor &tensor) {
  const auto *bytes = static_cast<const unsigned char *>(tensor.storage().data());
  const size_t size = tensor.storage().nbytes();
  uint64_t hash = 0xCBF29CE484222325ull ^ size;
  const auto add = [&](uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  };
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    add(word);
  }
  for (; i < size; ++i)
    add(bytes[i]);
  return hash;
}

/// Returns the values that a run may change, in the order of Observed::state.
std::vector<c10::IValue> state_of(const Instance &instance, bool module) {
  std::vector<c10::IValue> values;
  if (module) {
    for (const auto &parameter : instance.module.named_parameters())
      values.emplace_back(parameter.value);
    for (const auto &buffer : instance.module.named_buffers())
      values.emplace_back(buffer.value);
  }
  values.insert(values.end(), instance.arguments.begin(), instance.arguments.end());
  return values;
}

bool is_plain(const at::Tensor &tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.has_storage() &&
         !tensor.is_quantized() && !tensor.is_conj() && !tensor.is_neg();
}

bool same_tensor(const at::Tensor &before, const at::Tensor &after) {
  if (!is_plain(before) || !is_plain(after) || before.scalar_type() != after.scalar_type() ||
      before.sizes() != after.sizes() || before.strides() != after.strides() ||
      before.storage_offset() != after.storage_offset() || before.storage().nbytes() != after.storage().nbytes())
    return false;
  if (are_same_pages(before.storage(), after.storage()))
    return true;
  const size_t bytes = before.storage().nbytes();
  return bytes == 0 || std::memcmp(before.storage().data(), after.storage().data(), bytes) == 0;
}

bool same_scalar(const c10::IValue &before, const c10::IValue &after) {
  if (before.tagKind() != after.tagKind())
    return false;
  return before.isNone() ||
         ((before.isInt() || before.isDouble() || before.isBool() || before.isString()) && before == after);
}

/// True for a value whose leaves are told apart by their order alone: no keys, and no list in a list.
bool has_one_order(const c10::IValue &value) {
  const auto holds_others = [](const c10::IValue &each) {
    return each.isList() || each.isTuple() || each.isGenericDict();
  };
  if (value.isList()) {
    const auto list = value.toListRef();
    return std::none_of(list.begin(), list.end(), holds_others);
  }
  return !holds_others(value);
}

} // namespace

std::optional<InitialState::Contents> InitialState::contents_of(const at::Tensor &tensor) {
  if (!is_plain(tensor))
    return std::nullopt;
  const auto &storage = tensor.storage();
  Contents contents{storage.unsafeGetStorageImpl(), storage.data(),       storage.nbytes(),
                    tensor.scalar_type(),           tensor.sizes().vec(), tensor.strides().vec(),
                    tensor.storage_offset(),        std::nullopt};
  if (!is_untouched(storage))
    contents.hash = hash_of_storage(tensor);
  return contents;
}

InitialState::InitialState(const Instance &instance, bool module) : arguments_(instance.arguments) {
  const auto values = state_of(instance, module);
  for (size_t i = 0; i + arguments_.size() < values.size(); ++i)
    module_.push_back(contents_of(values[i].toTensor()));
}

bool InitialState::same_argument(const c10::IValue &before, const c10::IValue &after) {
  if (!has_one_order(before))
    return false; // it is copied and compared
  std::vector<c10::IValue> x, y;
  flatten_value(before, x);
  flatten_value(after, y);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const c10::IValue &one, const c10::IValue &other) {
    return one.isTensor() && other.isTensor() ? same_tensor(one.toTensor(), other.toTensor()) : same_scalar(one, other);
  });
}

bool InitialState::still_holds(size_t place, const c10::IValue &value) const {
  if (place >= module_.size())
    return place - module_.size() < arguments_.size() && same_argument(arguments_[place - module_.size()], value);
  const auto &before = module_[place];
  if (!before || !value.isTensor() || !is_plain(value.toTensor()))
    return false;
  const at::Tensor &tensor = value.toTensor();
  const auto &storage = tensor.storage();
  if (storage.unsafeGetStorageImpl() != before->storage || storage.data() != before->data ||
      storage.nbytes() != before->bytes || tensor.scalar_type() != before->type || tensor.sizes() != before->sizes ||
      tensor.strides() != before->strides || tensor.storage_offset() != before->offset)
    return false;
  return before->hash ? hash_of_storage(tensor) == *before->hash : is_untouched(storage);
}

void complete_state(Observed &ref, Observed &res, Observed *fp64, const std::function<Instance()> &fresh, bool module) {
  const size_t size = std::min(ref.state.size(), res.state.size());
  std::vector<size_t> missing;
  for (size_t i = 0; i < size; ++i)
    if (ref.unchanged[i].empty() != res.unchanged[i].empty())
      missing.push_back(i);
  if (missing.empty())
    return;
  const Instance instance = fresh();
  const auto values = state_of(instance, module);
  const auto fill = [&](Observed &observed, size_t i, bool double_precision) {
    if (i >= observed.state.size() || observed.unchanged[i].empty())
      return;
    observed.state[i] =
        SharedCloner({.requires_grad = false, .double_precision = double_precision}).clone(values.at(i));
    observed.unchanged[i].clear();
  };
  for (const size_t i : missing) {
    fill(ref, i, false);
    fill(res, i, false);
    if (fp64)
      fill(*fp64, i, true);
  }
}

} // namespace repro_minify
