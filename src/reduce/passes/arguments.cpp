// Arguments: what an operator's schema has as default, None where a tensor is optional, simple numbers for the rest.
#include "reduce/passes/by_halves.h"

#include "reduce/order/plainness.h"
#include "reduce/passes/edit_constants.h"
#include "reduce/passes/size_constants.h"
#include "repro_minify/record.h"

#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

using torch::jit::Node;

/// Counted among the nodes that are no constants: those stay where they are when constants come and go.
struct ArgumentPlace {
  size_t node;
  size_t argument;
};

std::vector<Node *> readers(torch::jit::Graph &graph) {
  std::vector<Node *> nodes;
  for (Node *node : all_nodes(graph))
    if (node->kind() != torch::jit::prim::Constant)
      nodes.push_back(node);
  return nodes;
}

const c10::Argument *argument_at(const Node *node, size_t i) {
  const auto *schema = node->maybeSchema();
  return schema && i < schema->arguments().size() ? &schema->arguments()[i] : nullptr;
}

bool is_none(const torch::jit::Value *value) {
  return value->type()->kind() == c10::TypeKind::NoneType;
}

bool takes_no_tensor(const c10::Argument &argument) {
  const auto optional = argument.type()->cast<c10::OptionalType>();
  return optional && optional->getElementType()->isSubtypeOf(*c10::TensorType::get());
}

/// What the argument is when nobody gives it; nothing when it has to be given.
std::optional<c10::IValue> left_out(const Node *node, size_t i) {
  const auto *argument = argument_at(node, i);
  if (!argument || is_none(node->input(i)) || is_default_argument(node, i))
    return std::nullopt;
  if (takes_no_tensor(*argument))
    return c10::IValue();
  const auto kind = node->input(i)->node()->kind();
  // What is computed is not for this pass to judge.
  if (kind != torch::jit::prim::Constant && kind != torch::jit::prim::ListConstruct)
    return std::nullopt;
  return argument->default_value();
}

/// The number that this constant argument is; nothing for another kind of argument, and for a size (see sizes.cpp).
std::optional<c10::IValue> number_at(const Node *node, size_t i) {
  const auto value = torch::jit::toIValue(node->input(i));
  if (!value || !(value->isInt() || value->isDouble()) || is_default_argument(node, i) || is_size(node, i))
    return std::nullopt;
  const auto *argument = argument_at(node, i);
  return argument && argument->name() == "dtype" ? std::nullopt : value;
}

/// `number` as a value of the same type; nothing where it is no plainer.
std::optional<c10::IValue> simpler(const c10::IValue &value, double number) {
  const double before = value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
  if (difficulty(number) >= difficulty(before) || (value.isInt() && number != static_cast<int64_t>(number)))
    return std::nullopt;
  return value.isInt() ? c10::IValue(static_cast<int64_t>(number)) : c10::IValue(number);
}

/// `choose(node, argument)` says what the argument becomes. Nothing when nothing changes.
template <typename Choose>
std::optional<Program> edited(const Program &program, const std::vector<ArgumentPlace> &places, const Choose &choose) {
  Program result = copy_of(program);
  const auto nodes = readers(*result.graph);
  bool any = false;
  for (const ArgumentPlace &place : places) {
    if (place.node >= nodes.size() || place.argument >= nodes[place.node]->inputs().size())
      continue; // another edit has removed it
    if (const auto value = choose(nodes[place.node], place.argument)) {
      set_argument(nodes[place.node], place.argument, *value);
      any = true;
    }
  }
  if (!any)
    return std::nullopt;
  drop_unused(result);
  return result;
}

template <typename Choose> std::vector<ArgumentPlace> places_where(const Program &program, const Choose &choose) {
  std::vector<ArgumentPlace> places;
  const auto nodes = readers(*program.graph);
  for (size_t node = 0; node < nodes.size(); ++node)
    for (size_t i = 0; i < nodes[node]->inputs().size(); ++i)
      if (choose(nodes[node], i))
        places.push_back({node, i});
  return places;
}

template <typename Choose> bool accept_edits(PassContext &context, const Choose &choose) {
  return accept_by_halves(context, places_where(context.current, choose),
                          [&](const Program &program, const std::vector<ArgumentPlace> &places) {
                            return edited(program, places, choose);
                          });
}

} // namespace

bool plain_arguments(PassContext &context) {
  bool any = accept_edits(context, left_out);
  for (double number : {1.0, 0.0, 2.0, 0.5})
    any |= accept_edits(context, [number](const Node *node, size_t i) -> std::optional<c10::IValue> {
      const auto value = number_at(node, i);
      return value ? simpler(*value, number) : std::nullopt;
    });
  return any;
}

} // namespace repro_minify
