// Arguments: what an operator's schema has as default, None where a tensor is optional, simple numbers for the rest.
#include "reduce/passes/pass.h"

#include "reduce/passes/edit_constants.h"
#include "reduce/passes/order.h"
#include "repro_minify/record.h"

#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

bool is_none(const Value *value) {
  return value->type()->kind() == c10::TypeKind::NoneType;
}

bool takes_no_tensor(const c10::Argument &argument) {
  const auto optional = argument.type()->cast<c10::OptionalType>();
  return optional && optional->getElementType()->isSubtypeOf(*c10::TensorType::get());
}

/// Returns the value that the argument has when it is left out; nothing when it has to be given, or has that value.
std::optional<c10::IValue> left_out(const Node *node, size_t i) {
  const auto *argument = argument_of(node, i);
  if (!argument || is_none(node->input(i)) || is_default_argument(node, i))
    return std::nullopt;
  if (takes_no_tensor(*argument))
    return c10::IValue();
  const auto kind = node->input(i)->node()->kind();
  // A computed value is not for this pass to judge.
  if (kind != prim::Constant && kind != prim::ListConstruct)
    return std::nullopt;
  return argument->default_value();
}

/// The number that this constant argument is; nothing for another kind of argument, and for a size (see sizes.cpp).
std::optional<c10::IValue> number_at(const Node *node, size_t i) {
  const auto value = torch::jit::toIValue(node->input(i));
  if (!value || !(value->isInt() || value->isDouble()) || is_default_argument(node, i) || is_size(node, i))
    return std::nullopt;
  const auto *argument = argument_of(node, i);
  return argument && argument->name() == "dtype" ? std::nullopt : value;
}

/// `number` as a value of the same type; nothing where it is no plainer.
std::optional<c10::IValue> simpler(const c10::IValue &value, double number) {
  const double before = value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
  if (difficulty(number) >= difficulty(before) || (value.isInt() && number != static_cast<int64_t>(number)))
    return std::nullopt;
  return value.isInt() ? c10::IValue(static_cast<int64_t>(number)) : c10::IValue(number);
}

/// `choose(node, argument)` says what the argument becomes, or nothing.
template <typename Choose> std::vector<ArgumentEdit> edits_of(const Program &program, const Choose &choose) {
  std::vector<ArgumentEdit> edits;
  for (const Node *node : all_nodes(*program.graph))
    for (size_t i = 0; node->kind() != prim::Constant && i < node->inputs().size(); ++i)
      if (const auto value = choose(node, i))
        edits.push_back({node, i, *value});
  return edits;
}

template <typename Choose> void accept_edits(PassContext &context, const Choose &choose) {
  const Program start = context.current;
  std::vector<ArgumentEdit> accepted;
  by_halves(edits_of(start, choose), [&](const std::vector<ArgumentEdit> &edits) {
    std::vector<ArgumentEdit> all = accepted;
    all.insert(all.end(), edits.begin(), edits.end());
    if (!context.try_candidate(with_arguments(start, all)))
      return false;
    accepted = std::move(all);
    return true;
  });
}

} // namespace

void plain_arguments(PassContext &context) {
  accept_edits(context, left_out);
  accept_edits(context, [](const Node *node, size_t i) -> std::optional<c10::IValue> {
    const auto value = number_at(node, i);
    const auto limit = value ? limit_near(value->toScalar().toDouble()) : std::nullopt;
    return limit ? simpler(*value, *limit) : std::nullopt;
  });
  for (double number : {1.0, 0.0, 2.0, 0.5})
    accept_edits(context, [number](const Node *node, size_t i) -> std::optional<c10::IValue> {
      const auto value = number_at(node, i);
      return value ? simpler(*value, number) : std::nullopt;
    });
}

} // namespace repro_minify
