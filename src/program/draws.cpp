// Random numbers in the fp64 reference: those that eager draws.
#include "program/module_edits.h"

#include <torch/csrc/jit/ir/constants.h>

#include <optional>
#include <set>
#include <string>

namespace repro_minify {
namespace {

namespace aten = torch::jit::aten;

/// Operators that draw floating-point numbers, or decide by some, in another way in float64. (dropout, randint and
/// randperm give the same in either.)
const std::set<std::string, std::less<>> &drawing() {
  static const std::set<std::string, std::less<>> names = {
      "rand",         "rand_like", "randn",       "randn_like", "normal",      "normal_", "uniform_",
      "exponential_", "cauchy_",   "log_normal_", "bernoulli",  "multinomial", "poisson", "bernoulli_"};
  return names;
}

std::optional<int> dtype_argument(const Node *node) {
  const auto *schema = node->maybeSchema();
  return schema ? schema->argumentIndexWithName("dtype") : std::nullopt;
}

/// Complex numbers are drawn as pairs of the type that is asked for.
bool draws_complex(const Node *node) {
  const auto type = node->output()->type()->cast<c10::TensorType>();
  if (type && type->scalarType() && at::isComplexType(*type->scalarType()))
    return true;
  const auto place = dtype_argument(node);
  const auto given = place ? torch::jit::toIValue(node->input(*place)) : std::nullopt;
  return given && given->isInt() && at::isComplexType(static_cast<at::ScalarType>(given->toInt()));
}

/// Casts the tensors among the arguments from the first on: probabilities, means.
void narrow_arguments(Node *node, size_t first) {
  const torch::jit::WithInsertPoint before(node);
  for (size_t i = first; i < node->inputs().size(); ++i)
    if (node->input(i)->type()->isSubtypeOf(*c10::TensorType::get()))
      node->replaceInput(i, node->owningGraph()->insert(aten::to, {node->input(i), at::kFloat}));
}

/// A tensor like the one that is written to, with its strides, is drawn into in its place, and copied.
void draw_beside(Node *node) {
  Graph &graph = *node->owningGraph();
  Value *target = node->input(0);
  narrow_arguments(node, 1);
  {
    const torch::jit::WithInsertPoint before(node);
    Value *sizes = graph.insert(aten::size, {target}), *strides = graph.insert(aten::stride, {target});
    node->replaceInput(
        0, graph.insert(aten::new_empty_strided, {target, sizes, strides}, {{"dtype", c10::IValue(at::kFloat)}}));
  }
  const torch::jit::WithInsertPoint after(node->next());
  Value *copied = graph.insert(aten::copy_, {target, node->output()});
  node->output()->replaceAllUsesAfterNodeWith(copied->node(), copied);
}

/// rand_like(x) has the dtype of x where it is given none.
void ask_for_float32(Node *node) {
  const auto place = dtype_argument(node);
  const auto given = place ? torch::jit::toIValue(node->input(*place)) : std::nullopt;
  if (!given || !given->isNone())
    return;
  const torch::jit::WithInsertPoint before(node);
  node->replaceInput(*place, node->owningGraph()->insertConstant(static_cast<int64_t>(at::kFloat)));
}

} // namespace

bool draws_otherwise_in_float64(const Node *node) {
  const auto *schema = node->maybeSchema();
  return schema && node->kind().is_aten() && node->outputs().size() == 1 &&
         drawing().contains(node->kind().toUnqualString()) &&
         !schema->argumentIndexWithName("out") && // what is drawn into another tensor stays as it is
         !draws_complex(node);
}

void draw_in_float32(Node *node) {
  const std::string name = node->kind().toUnqualString();
  if (name.back() == '_')
    return draw_beside(node);
  Graph &graph = *node->owningGraph();
  name.ends_with("_like") ? ask_for_float32(node) : narrow_arguments(node, 0);
  if (name == "multinomial") // gives indices
    return;
  const torch::jit::WithInsertPoint after(node->next());
  Value *wide = graph.insert(aten::to, {node->output(), at::kDouble});
  node->output()->replaceAllUsesAfterNodeWith(wide->node(), wide);
}

} // namespace repro_minify
