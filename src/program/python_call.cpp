#include "program/python_call.h"

#include "program/surgery.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <vector>

namespace repro_minify {
namespace {

constexpr int deepest = 64; ///< lists in lists in an argument: a file may nest them without end

/// The names by which users know transformations of torch.func and higher-order operators.
const std::map<std::string, std::string> &users_names() {
  static const std::map<std::string, std::string> known = {{"vmapped", "vmap"},
                                                           {"differentiated", "grad"},
                                                           {"pulled", "vjp"},
                                                           {"pushed", "jvp"},
                                                           {"tag_activation_checkpoint", "checkpoint"}};
  return known;
}

/// True if all operands that it names are among the first `operands`.
bool names_operands(const json &form, size_t operands, int depth = 0) {
  if (depth > deepest)
    return false;
  if (!form.is_structured())
    return true;
  if (form.is_object() && form.contains("%"))
    return form.size() == 1 && form["%"].is_number_unsigned() && form["%"].get<size_t>() < operands;
  return std::all_of(form.begin(), form.end(),
                     [&](const json &part) { return names_operands(part, operands, depth + 1); });
}

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

int calls_in_graphs(const json &form) {
  if (!form.is_structured())
    return 0;
  int count = 0;
  for (const auto &part : form)
    count += calls_in_graphs(part);
  if (form.is_object() && form.contains("graph") && form["graph"].contains("calls"))
    count += static_cast<int>(form["graph"]["calls"].size());
  return count;
}

/// True if the call has a name, and each of its operands is one of the node's.
bool is_well_formed(const json &call, size_t operands) {
  const auto is_text = [&](const char *key) { return call.contains(key) && call[key].is_string(); };
  return call.is_object() && (is_text("f") || is_text("m")) && call.contains("a") && call["a"].is_array() &&
         (!call.contains("k") || call["k"].is_object()) && (!call.contains("in") || call["in"].is_array()) &&
         names_operands(call, operands);
}

} // namespace

bool is_python_call(const Node *node) {
  static const c10::Symbol space = c10::Symbol::fromQualString("namespaces::fx");
  return node->kind().ns() == space;
}

bool calls_python(const Graph &graph) {
  return any_node(graph.block(), is_python_call);
}

json python_call_of(const Node *node) {
  const auto text = torch::jit::toIValue(node->input(0));
  json call = json::parse(text && text->isString() ? text->toStringRef() : "", nullptr, /*allow_exceptions=*/false);
  return is_well_formed(call, node->inputs().size() - 1) ? call : json();
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

int calls_in_graphs_of(const Node *node) {
  const auto text = torch::jit::toIValue(node->input(0));
  const bool may_have = text && text->isString() && text->toStringRef().find("\"graph\"") != std::string::npos;
  return may_have ? calls_in_graphs(python_call_of(node)) : 0;
}

std::string operator_name(const Node *node) {
  if (!is_python_call(node))
    return node->kind().toQualString();
  const json call = python_call_of(node);
  if (call.is_null())
    return node->kind().toQualString();
  return call.contains("m") ? "." + call["m"].get<std::string>() : call["f"].get<std::string>();
}

std::string short_operator_name(const Node *node) {
  if (!is_python_call(node))
    return node->kind().toUnqualString();
  std::string name = operator_name(node);
  if (name.starts_with("torch.ops.") && !name.starts_with("torch.ops.higher_order.")) // torch.ops.aten.add.Tensor
    name = name.substr(0, name.rfind('.'));
  name = name.substr(name.rfind('.') + 1);
  const auto users = users_names().find(name);
  return users == users_names().end() ? name : users->second;
}

} // namespace repro_minify
