// Tensors of one number, made by a call in the graph: the functions of remake_input.h that need no data.
#include "reduce/passes/remake_input.h"

#include "program/formula.h"
#include "program/python_call.h"
#include "program/values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace repro_minify {
namespace {

/// Tensors with more elements are not looked at element by element.
constexpr int64_t most_literal_elements = int64_t{1} << 20;

bool is_same_number(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// A function that makes a tensor, the number that it takes (none for zeros and ones), and whether the dtype has to be
/// said because it is not the one that follows from the number.
struct Filling {
  std::string function;
  std::optional<c10::IValue> number;
  bool says_dtype;
};

Filling filling_of(double number, at::ScalarType dtype) {
  if (const std::string name = name_of_filling(number); name != "full")
    return {name, std::nullopt, dtype != at::kFloat};
  if (dtype == at::kFloat)
    return {"full", std::strtod(number_text(number).c_str(), nullptr), false}; // 0.1, not 0.10000000149011612
  if (at::isIntegralType(dtype, /*includeBool=*/false))
    return {"full", static_cast<int64_t>(number), dtype != at::kLong};
  return {"full", number, true};
}

/// Builds a node of the kind fx::tensor: the JSON that program/python_call.h describes, and its operands.
class FxCallBuilder {
public:
  explicit FxCallBuilder(Graph &graph) : graph_(graph) {}

  json operand(const c10::IValue &value) {
    const double number = value.isDouble() ? value.toDouble() : 0;
    // TorchScript saves a whole number of so many digits without its point, which makes it an int.
    const bool is_whole_and_large = std::abs(number) >= 1e10 && std::rint(number) == number; // infinity too
    if (std::isnan(number) || is_whole_and_large)
      return {{"float", std::isnan(number) ? "nan" : number_text(number)}};
    operands_.push_back(graph_.insertConstant(value));
    return {{"%", operands_.size() - 1}};
  }

  Value *insert(const json &call) {
    operands_.insert(operands_.begin(), graph_.insertConstant(call.dump()));
    static const auto kind = c10::Symbol::fromQualString("fx::tensor");
    return graph_.insertNode(graph_.create(kind, operands_))->output();
  }

private:
  Graph &graph_;
  std::vector<Value *> operands_;
};

Value *insert_python_call(Graph &graph, const Filling &filling, const at::Tensor &like) {
  FxCallBuilder python(graph);
  json sizes = json::array();
  for (const int64_t size : like.sizes())
    sizes.push_back(python.operand(size));
  const bool one_by_one =
      !filling.number && !sizes.empty(); // torch.ones(2, 3), torch.ones(()), torch.full((2, 3), 4.0)
  json call = {{"f", "torch." + filling.function}, {"a", one_by_one ? sizes : json::array({json{{"tuple", sizes}}})}};
  if (filling.number)
    call["a"].push_back(python.operand(*filling.number));
  if (filling.says_dtype)
    call["k"] = {{"dtype", {{"torch", dtype_name(like.scalar_type())}}}};
  return python.insert(call);
}

Value *insert_operator(Graph &graph, const Filling &filling, const at::Tensor &like) {
  std::vector<Value *> arguments = {graph.insertConstant(like.sizes().vec())};
  if (filling.number)
    arguments.push_back(graph.insertConstant(*filling.number));
  Value *none = graph.insertConstant(c10::IValue());
  const c10::IValue dtype(static_cast<int64_t>(like.scalar_type()));
  arguments.push_back(filling.says_dtype ? graph.insertConstant(dtype) : none);
  arguments.insert(arguments.end(), {none, none, none}); // layout, device, pin_memory
  const auto kind = c10::Symbol::fromQualString("aten::" + filling.function);
  return graph.insertNode(graph.create(kind, arguments))->output();
}

} // namespace

std::optional<double> only_number_in(const at::Tensor &tensor) {
  const auto elements = elements_of(tensor, most_literal_elements);
  if (!elements)
    return std::nullopt;
  if (elements->empty())
    return 0;
  const double first = elements->front();
  const bool same = std::all_of(elements->begin(), elements->end(),
                                [first](double element) { return is_same_number(element, first); });
  return same ? std::optional(first) : std::nullopt;
}

std::string name_of_filling(double number) {
  return number == 0 && !std::signbit(number) ? "zeros" : number == 1 ? "ones" : "full";
}

Value *insert_filled(Node *before, double number, const at::Tensor &like) {
  Graph &graph = *before->owningGraph();
  const Filling filling = filling_of(number, like.scalar_type());
  const torch::jit::WithInsertPoint guard(before);
  return calls_python(graph) ? insert_python_call(graph, filling, like) : insert_operator(graph, filling, like);
}

} // namespace repro_minify
