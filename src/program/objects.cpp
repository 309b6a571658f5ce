#include "program/objects.h"

#include "program/values.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

const std::string opaque_classes = "__torch__.torch.classes.";

std::string class_name(const c10::IValue &object) {
  return object.toObjectRef().type()->name()->qualifiedName();
}

uint64_t combined_hash(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

uint64_t hash_of_state(const c10::IValue &object) {
  uint64_t hash = hash_value(c10::IValue(class_name(object)));
  auto *get_state = object.toObjectRef().type()->findMethod("__getstate__");
  if (!get_state) // equal to itself alone
    return combined_hash(hash, reinterpret_cast<uintptr_t>(&object.toObjectRef()));
  std::vector<c10::IValue> leaves;
  flatten_value((*get_state)({object}), leaves);
  for (const auto &leaf : leaves)
    hash = combined_hash(hash, hash_value(leaf));
  return hash;
}

} // namespace

bool is_opaque_class(const c10::TypePtr &type) {
  const auto given = type->cast<c10::ClassType>();
  return given && given->name() && given->name()->qualifiedName().starts_with(opaque_classes);
}

bool is_opaque_object(const c10::IValue &value) {
  return value.isObject() && is_opaque_class(value.toObjectRef().type());
}

bool holds_object(const c10::IValue &value) {
  std::vector<c10::IValue> leaves;
  flatten_value(value, leaves);
  return std::any_of(leaves.begin(), leaves.end(), is_opaque_object);
}

c10::IValue copy_of_object(const c10::IValue &object) {
  const std::string name = class_name(object);
  const bool is_packed = name.starts_with(opaque_classes + "quantized.") || name.starts_with(opaque_classes + "rnn.");
  return is_packed ? object : object.deepcopy();
}

uint64_t hash_of_object(const c10::IValue &object) {
  // Unpacking weights takes its time. What is in here lives on, so that its address is not used again.
  static thread_local std::unordered_map<const void *, std::pair<c10::IValue, uint64_t>> known;
  const auto [entry, is_new] = known.try_emplace(&object.toObjectRef(), object, 0);
  if (is_new)
    entry->second.second = hash_of_state(object);
  return entry->second.second;
}

} // namespace repro_minify
