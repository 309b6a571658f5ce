#include "program/python_call.h"

#include "program/any_node.h"

#include <torch/csrc/jit/ir/constants.h>

#include <map>
#include <vector>

namespace repro_minify {
namespace {

using nlohmann::json;
using torch::jit::Node;
using torch::jit::Value;

/// Numbers the operands of a call anew, in the order in which it names them. `kept` are their former numbers.
void renumber(json &form, std::map<size_t, size_t> &numbers, std::vector<size_t> &kept) {
  if (form.is_object() && form.size() == 1 && form.begin().key() == "%") {
    const auto before = form.begin().value().get<size_t>();
    const auto [entry, is_new] = numbers.try_emplace(before, kept.size());
    if (is_new)
      kept.push_back(before);
    form.begin().value() = entry->second;
  } else if (form.is_structured()) {
    for (auto &part : form)
      renumber(part, numbers, kept);
  }
}

} // namespace

bool is_python_call(const Node *node) {
  static const c10::Symbol space = c10::Symbol::fromQualString("namespaces::fx");
  return node->kind().ns() == space;
}

bool calls_python(const torch::jit::Graph &graph) {
  return any_node(graph.block(), is_python_call);
}

json python_call_of(const Node *node) {
  const auto text = torch::jit::toIValue(node->input(0));
  json call = json::parse(text && text->isString() ? text->toStringRef() : "", nullptr, /*allow_exceptions=*/false);
  return call.is_object() ? call : json();
}

void set_python_call(Node *node, const json &given) {
  json call = given;
  std::map<size_t, size_t> numbers;
  std::vector<size_t> kept;
  for (const char *part : {"a", "k"})
    if (call.contains(part))
      renumber(call[part], numbers, kept);
  std::vector<Value *> operands;
  for (const size_t number : kept)
    operands.push_back(node->input(number + 1));
  torch::jit::WithInsertPoint guard(node);
  operands.insert(operands.begin(), node->owningGraph()->insertConstant(call.dump()));
  node->removeAllInputs();
  for (Value *operand : operands)
    node->addInput(operand);
}

std::string operator_name(const Node *node) {
  if (!is_python_call(node))
    return node->kind().toQualString();
  const json call = python_call_of(node);
  if (call.is_object() && call.contains("m"))
    return "." + call["m"].get<std::string>();
  return call.is_object() ? call.value("f", std::string(node->kind().toQualString())) : node->kind().toQualString();
}

std::string short_operator_name(const Node *node) {
  if (!is_python_call(node))
    return node->kind().toUnqualString();
  std::string name = operator_name(node);
  if (name.starts_with("torch.ops.")) // torch.ops.aten.add.Tensor
    name = name.substr(0, name.rfind('.'));
  return name.substr(name.rfind('.') + 1);
}

} // namespace repro_minify
