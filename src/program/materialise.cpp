#include "program/materialise.h"

#include "program/names.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

namespace repro_minify {

std::string Identifiers::unique(const std::string &name, const Identifiers *others) {
  const std::string base = to_identifier(name);
  const auto is_taken = [&](const std::string &text) {
    return names_.count(text) > 0 || (others && others->names_.count(text) > 0);
  };
  int first = 0;
  if (others)
    if (const auto last = others->last_suffix_.find(base); last != others->last_suffix_.end())
      first = last->second;
  std::string candidate = base;
  for (int &i = last_suffix_.try_emplace(base, first).first->second; is_taken(candidate);)
    candidate = base + "_" + std::to_string(++i);
  names_.insert(candidate);
  return candidate;
}

std::string InputBuilder::unique_identifier(const std::string &name) {
  if (names_.size() != program_.inputs.size()) {
    names_ = {};
    for (const auto &input : program_.inputs)
      names_.take(input.name);
  }
  return names_.unique(name, taken_);
}

Value *InputBuilder::add_tensor(const c10::IValue &value, Role role, const std::string &name,
                                const std::optional<Formula> &formula) {
  return add_input({unique_identifier(name), role, value, formula});
}

Value *InputBuilder::add_input(ProgramInput input) {
  Value *value = program_.graph->addInput(input.name);
  value->setType(c10::TensorType::get());
  names_.take(input.name);
  program_.inputs.push_back(std::move(input));
  return value;
}

namespace {

/// An undefined tensor counts, and so does an object: neither can be inside of a constant.
bool needs_construction(const c10::IValue &value) {
  std::vector<c10::IValue> leaves;
  flatten_value(value, leaves);
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const c10::IValue &leaf) { return leaf.isTensor() || leaf.isObject(); });
}

/// Returns the type that `type` has for element `i`, else the element's own type.
c10::TypePtr element_type(const c10::TypePtr &type, size_t i, const c10::IValue &element) {
  if (const auto tuple = type ? type->cast<c10::TupleType>() : nullptr; tuple && i < tuple->elements().size())
    return tuple->elements()[i];
  return element.isTensor() ? c10::TensorType::get() : element.type();
}

/// None where the type allows it; otherwise what autograd makes where there is no gradient.
Value *undefined_tensor(Graph &graph, const c10::TypePtr &type) {
  if (!type || !type->isSubtypeOf(*c10::TensorType::get()))
    return graph.insertConstant(c10::IValue());
  return graph.insertNode(graph.createAutogradZero())->output();
}

/// TorchScript itself takes none that belongs to a module.
Value *object_constant(Graph &graph, const c10::IValue &object) {
  Node *node = graph.insertNode(graph.create(prim::Constant));
  node->ival_(torch::jit::attr::value, object);
  return node->output()->setType(object.type());
}

} // namespace

Value *InputBuilder::materialise(const c10::IValue &value, const c10::TypePtr &type, Role role,
                                 const std::string &name) {
  auto &graph = *program_.graph;
  if (value.isTensor())
    return value.toTensor().defined() ? add_tensor(value, role, name) : undefined_tensor(graph, type);
  const auto optional = type ? type->cast<c10::OptionalType>() : nullptr;
  const c10::TypePtr inner = optional ? optional->getElementType() : type;
  const bool is_constructed = needs_construction(value);
  if (value.isTuple() && is_constructed) {
    std::vector<Value *> elements;
    for (const auto &element : value.toTupleRef().elements())
      elements.push_back(materialise(element, element_type(inner, elements.size(), element), role, name));
    return graph.insertNode(graph.createTuple(elements))->output();
  }
  if (value.isList() && (is_constructed || value.toListRef().empty())) {
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
  if (is_opaque_object(value))
    return object_constant(graph, value);
  if (const auto constant = torch::jit::tryInsertConstant(graph, value))
    return *constant;
  throw CannotMaterialise("a value of type " + value.type()->annotation_str() + " has no form in a graph");
}

bool can_materialise(const c10::IValue &value) {
  std::vector<c10::IValue> leaves;
  flatten_value(value, leaves);
  return std::all_of(leaves.begin(), leaves.end(), [](const c10::IValue &leaf) {
    if (leaf.isTensor() && leaf.toTensor().defined()) { // one of oneDNN cannot be saved, and a meta one has no values
      const auto &tensor = leaf.toTensor();
      return !tensor.is_mkldnn() && !tensor.is_meta() && !tensor.is_nested();
    }
    if (leaf.isTensor())
      return true;
    return leaf.isInt() || leaf.isDouble() || leaf.isBool() || leaf.isString() || leaf.isNone() || leaf.isDevice() ||
           leaf.isComplexDouble() || leaf.isList(); // a list that is a leaf has numbers
  });
}

} // namespace repro_minify
