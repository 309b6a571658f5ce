#include "reduce/passes/order.h"

#include "program/formula.h"
#include "program/python_call.h"
#include "program/values.h"
#include "repro_minify/record.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace repro_minify {
namespace {

/// Arguments that are no numbers, although TorchScript keeps them as such.
bool names_a_setting(const std::string &argument) {
  static const std::set<std::string> settings = {"dtype", "layout", "device", "pin_memory", "memory_format"};
  return settings.count(argument) != 0;
}

int difficulty_of_constant(const c10::IValue &value) {
  if (value.isInt())
    return difficulty(static_cast<double>(value.toInt()));
  if (value.isDouble())
    return difficulty(value.toDouble());
  if (value.isBool())
    return 1;
  int sum = 0;
  if (value.isIntList())
    for (int64_t number : value.toIntVector())
      sum += difficulty(static_cast<double>(number));
  if (value.isDoubleList())
    for (double number : value.toDoubleVector())
      sum += difficulty(number);
  return sum;
}

/// Constants and, above all, data are only looked at once the program is about as small as it gets: they take time to
/// look at.
constexpr int most_operators_with_constants = 256;
constexpr int most_operators_with_data = 16;

int missing_arguments(const Graph &graph) {
  int count = 0;
  for (const auto *node : all_nodes(graph))
    count += node->kind() == prim::Constant && node->output()->type()->kind() == c10::TypeKind::NoneType;
  return count;
}

/// The most trips that one loop counts as; a loop whose number of trips is not known counts as many.
constexpr std::int64_t many_trips = std::int64_t{1} << 20;

std::int64_t trips_in(const Graph &graph) {
  std::int64_t trips = 0;
  for (const auto *node : all_nodes(graph))
    if (node->kind() == prim::Loop) {
      const auto most = torch::jit::toIValue(node->input(0));
      trips += most ? std::clamp(most->toInt(), std::int64_t{0}, many_trips) : many_trips;
    }
  return trips;
}

/// Returns how hard one argument of a node is if it is a constant; 0 for the default of the operator's schema.
int difficulty_of_argument(const Node *node, size_t argument) {
  if (node->input(argument)->node()->kind() != prim::Constant || is_default_argument(node, argument))
    return 0;
  const auto value = torch::jit::toIValue(node->input(argument));
  if (argument == 0 && is_python_call(node) && value && value->isString()) // each brace opens an argument
    return static_cast<int>(std::count(value->toStringRef().begin(), value->toStringRef().end(), '{'));
  const auto *formal = argument_of(node, argument);
  if (!value || value->isTensor() || value->isNone())
    return 0;
  if (formal && names_a_setting(formal->name()))
    return 1;
  return difficulty_of_constant(*value);
}

/// Returns how hard all constants in a graph are together, each counted as often as it is used.
int64_t difficulty_of_constants(const Graph &graph) {
  int64_t sum = 0;
  for (const Node *node : all_nodes(graph))
    for (size_t i = 0; i < node->inputs().size(); ++i)
      sum += difficulty_of_argument(node, i);
  return sum;
}

} // namespace

/// The ends of int32 and uint32, and where the whole numbers of float32 and float64 cease to be exact. A shorter one is
/// no harder to take in than others of its length.
constexpr double limits[] = {2147483647, -2147483648, 4294967295, 16777216, 9007199254740992};
constexpr int difficulty_of_limit = 10;

int difficulty(double number) {
  if (number == 0 || number == 1)
    return 1;
  if (number == 2 || number == 0.5 || number == -1 || !std::isfinite(number))
    return 2;
  if (number == std::trunc(number) && std::abs(number) < 1e6)
    return 3 + std::ilogb(number) + (number < 0);
  if (std::find(std::begin(limits), std::end(limits), number) != std::end(limits))
    return difficulty_of_limit;
  return 3 + static_cast<int>(number_text(number).size());
}

std::optional<double> limit_near(double number) {
  std::optional<double> nearest;
  for (const double limit : limits) {
    const double ratio = limit / number;
    if (limit != number && ratio >= 0.5 && ratio <= 2 &&
        (!nearest || std::abs(limit - number) < std::abs(*nearest - number)))
      nearest = limit;
  }
  return nearest;
}

int64_t difficulty(const Formula &formula) {
  switch (formula.kind) {
  case Formula::Kind::Zeros:
  case Formula::Kind::Ones:
    return 0;
  case Formula::Kind::Full:
    return 1 + difficulty(formula.number);
  case Formula::Kind::Arange:
    return 20;
  case Formula::Kind::Randn:
  case Formula::Kind::Rand:
    return 30;
  }
  return 30;
}

int64_t difficulty(const ProgramInput &input) {
  if (input.formula)
    return difficulty(*input.formula);
  const auto elements = elements_of(input.value.toTensor(), most_plain_elements);
  int64_t sum = 40;
  if (elements)
    for (double number : *elements)
      sum += number == 0 ? 0 : difficulty(number);
  return sum;
}

int difficulty(at::ScalarType dtype) {
  constexpr std::array order = {at::kFloat, at::kDouble,       at::kBFloat16,      at::kHalf,
                                at::kLong,  at::kInt,          at::kShort,         at::kChar,
                                at::kByte,  at::kComplexFloat, at::kComplexDouble, at::kBool};
  return static_cast<int>(std::find(order.begin(), order.end(), dtype) - order.begin());
}

int difficulty(Role role) {
  switch (role) {
  case Role::Input:
    return 0;
  case Role::Buffer:
    return 1;
  case Role::Parameter:
    return 2;
  case Role::Constant:
    return 3;
  }
  return 4;
}

const c10::Argument *argument_of(const Node *node, size_t i) {
  const auto *schema = node->maybeSchema();
  return schema && i < schema->arguments().size() ? &schema->arguments()[i] : nullptr;
}

bool is_same_constant(const c10::IValue &one, const c10::IValue &other) {
  if (one.isScalar() && other.isScalar() && !one.isBool() && !other.isBool())
    return one.toScalar().equal(other.toScalar().toDouble());
  return one == other;
}

bool is_default_argument(const Node *node, size_t i) {
  const auto *argument = argument_of(node, i);
  if (!argument || !argument->default_value() || node->input(i)->node()->kind() != prim::Constant)
    return false;
  const auto value = torch::jit::toIValue(node->input(i));
  return value && is_same_constant(*value, *argument->default_value());
}

bool is_irregular(const at::Tensor &tensor) {
  return is_plain(tensor) &&
         (!tensor.is_contiguous() || tensor.storage_offset() != 0 ||
          static_cast<int64_t>(tensor.storage().nbytes()) > tensor.numel() * static_cast<int64_t>(tensor.itemsize()));
}

bool shares_memory(const at::Tensor &tensor, std::set<void *> &storages) {
  void *storage = storage_of(tensor);
  return storage && !storages.insert(storage).second;
}

Order order_of(const Program &program) {
  const ProgramSize size = size_of(program);
  Order order;
  order.operators = size.operators;
  order.nodes = size.nodes - missing_arguments(*program.graph);
  order.outputs = size.outputs;
  order.inputs = static_cast<int>(program.inputs.size());
  std::set<void *> storages;
  order.trips = trips_in(*program.graph);
  for (const auto &input : program.inputs) {
    const auto &tensor = input.value.toTensor();
    order.data_inputs += !input.formula;
    order.elements += tensor.numel();
    order.dimensions += static_cast<int>(tensor.dim());
    order.irregular_inputs += shares_memory(tensor, storages) || is_irregular(tensor);
    order.dtypes += difficulty(tensor.scalar_type());
    order.needs_autograd += tensor.requires_grad();
    order.roles += difficulty(input.role);
    if (input.formula || size.operators <= most_operators_with_data)
      order.values += difficulty(input);
  }
  if (size.operators <= most_operators_with_constants)
    order.constants = difficulty_of_constants(*program.graph);
  return order;
}

} // namespace repro_minify
