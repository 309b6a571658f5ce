#include "program/objects.h"

#include "program/value_digest.h"
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

std::string digest_of_state(const c10::IValue &object) {
  auto *get_state = object.toObjectRef().type()->findMethod("__getstate__");
  if (!get_state)
    return "";
  Digest digest;
  digest.add(class_name(object));
  return add_value(digest, (*get_state)({object})) ? digest.text() : "";
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

const std::string &digest_of_object(const c10::IValue &object) {
  // Unpacking weights takes its time. What is in here lives on, so that its address is not used again.
  static thread_local std::unordered_map<const void *, std::pair<c10::IValue, std::string>> known;
  const auto [entry, is_new] = known.try_emplace(&object.toObjectRef(), object, std::string());
  if (is_new)
    entry->second.second = digest_of_state(object);
  return entry->second.second;
}

} // namespace repro_minify
