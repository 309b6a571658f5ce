#include "program/materialise.h"

#include "program/names.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {

using torch::jit::Value;

std::string InputBuilder::unique_identifier(const std::string &name) {
  if (names_.size() != program_.inputs.size()) {
    names_.clear();
    last_suffix_.clear();
    for (const auto &input : program_.inputs)
      names_.insert(input.name);
  }
  const std::string base = to_identifier(name);
  std::string candidate = base;
  // Names are never given back: what was taken once need not be tried again.
  for (int &i = last_suffix_[base]; names_.count(candidate);)
    candidate = base + "_" + std::to_string(++i);
  names_.insert(candidate);
  return candidate;
}

Value *InputBuilder::add_tensor(const c10::IValue &value, Role role, const std::string &name,
                                const std::string &formula) {
  const std::string identifier = unique_identifier(name);
  Value *input = program_.graph->addInput(identifier);
  input->setType(c10::TensorType::get());
  program_.inputs.push_back({identifier, role, value, formula});
  return input;
}

Value *InputBuilder::materialise(const c10::IValue &value, const c10::TypePtr &type, Role role,
                                 const std::string &name) {
  auto &graph = *program_.graph;
  if (value.isTensor()) {
    if (!value.toTensor().defined())
      return graph.insertConstant(c10::IValue());
    return add_tensor(value, role, name);
  }
  const auto optional = type ? type->cast<c10::OptionalType>() : nullptr;
  const c10::TypePtr inner = optional ? optional->getElementType() : type;
  bool has_tensor = false;
  for_each_tensor(value, [&](const at::Tensor &) { has_tensor = true; });
  if (value.isTuple() && has_tensor) {
    std::vector<Value *> elements;
    for (const auto &element : value.toTupleRef().elements())
      elements.push_back(materialise(element, element.type(), role, name));
    return graph.insertNode(graph.createTuple(elements))->output();
  }
  if (value.isList() && (has_tensor || value.toListRef().empty())) {
    auto element_type = inner && inner->cast<c10::ListType>()
                            ? inner->cast<c10::ListType>()->getElementType()
                            : value.type()->expectRef<c10::ListType>().getElementType();
    std::vector<Value *> elements;
    for (const c10::IValue &element : value.toListRef())
      elements.push_back(materialise(element, element_type, role, name));
    return graph.insertNode(graph.createList(element_type, elements))->output();
  }
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    std::vector<Value *> keys, elements;
    for (const auto &entry : dict) {
      keys.push_back(materialise(entry.key(), dict.keyType(), role, name));
      elements.push_back(materialise(entry.value(), dict.valueType(), role, name));
    }
    return graph.insertNode(graph.createDict(dict.keyType(), dict.valueType(), keys, elements))->output();
  }
  if (const auto constant = torch::jit::tryInsertConstant(graph, value))
    return *constant;
  throw CannotMaterialise("a value of type " + value.type()->annotation_str() + " has no form in a graph");
}

bool can_materialise(const c10::IValue &value) {
  if (value.isTuple()) {
    for (const auto &element : value.toTupleRef().elements())
      if (!can_materialise(element))
        return false;
    return true;
  }
  if (value.isList()) {
    for (const c10::IValue &element : value.toListRef())
      if (!can_materialise(element))
        return false;
    return true;
  }
  if (value.isGenericDict()) {
    for (const auto &entry : value.toGenericDict())
      if (!can_materialise(entry.value()))
        return false;
    return true;
  }
  if (value.isTensor()) // a oneDNN tensor cannot be saved
    return !value.toTensor().defined() || !value.toTensor().is_mkldnn();
  return value.isInt() || value.isDouble() || value.isBool() || value.isString() || value.isNone() ||
         value.isDevice() || value.isComplexDouble();
}

} // namespace repro_minify
