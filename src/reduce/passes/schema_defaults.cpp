#include "reduce/passes/schema_defaults.h"

#include "program/python_call.h"
#include "reduce/passes/order.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

using nlohmann::json;
using torch::jit::Node;

/// "torch.ops.aten.add.Tensor" is aten::add.Tensor, "torch.ops.aten.sum.default" aten::sum without an overload.
std::optional<c10::OperatorHandle> called_operator(const std::string &name) {
  constexpr std::string_view prefix = "torch.ops.";
  const size_t dot = name.rfind('.');
  if (!name.starts_with(prefix) || dot <= prefix.size())
    return std::nullopt;
  std::string packet = name.substr(prefix.size(), dot - prefix.size());
  const size_t library_end = packet.find('.');
  if (library_end == std::string::npos)
    return std::nullopt;
  packet.replace(library_end, 1, "::");
  const std::string overload = name.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchema({packet, overload == "default" ? "" : overload});
}

/// The constant that an argument is; nothing for another kind of argument.
std::optional<c10::IValue> constant_at(const Node *node, const json &form) {
  const bool is_operand = form.is_object() && form.size() == 1 && form.contains("%");
  return is_operand ? torch::jit::toIValue(node->input(form["%"].get<size_t>() + 1)) : std::nullopt;
}

/// The form of a value that is no operand (fx_call.py); null where there is none.
json literal_of(const c10::IValue &value) {
  if (value.isNone())
    return {{"none", 1}};
  if (value.isInt())
    return {{"int", std::to_string(value.toInt())}};
  if (value.isDouble())
    return {{"float", json(value.toDouble()).dump()}};
  if (value.isBool())
    return {{"bool", value.toBool() ? 1 : 0}};
  return value.isString() ? json{{"text", value.toStringRef()}} : json();
}

} // namespace

std::vector<DefaultArgument> arguments_with_defaults(const Node *node) {
  std::vector<DefaultArgument> found;
  const json call = python_call_of(node);
  if (call.is_null() || !call.contains("f"))
    return found;
  const auto handle = called_operator(call["f"]);
  if (!handle || !handle->hasSchema())
    return found;
  const auto &arguments = handle->schema().arguments();
  const json &given = call["a"];
  for (size_t place = 0; place + 1 < std::min(given.size(), arguments.size()); ++place) {
    const auto &fallback = arguments[place].default_value();
    const json literal = fallback ? literal_of(*fallback) : json();
    if (literal.is_null() || given[place] == literal)
      continue;
    const auto value = constant_at(node, given[place]);
    // A tensor is left out where there may be none; another computed value is not for this pass to judge.
    if (value ? !is_same_constant(*value, *fallback) : fallback->isNone())
      found.push_back({place, literal});
  }
  return found;
}

void set_argument(Node *node, const DefaultArgument &argument) {
  json call = python_call_of(node);
  call["a"].at(argument.place) = argument.form;
  set_python_call(node, call);
}

} // namespace repro_minify
