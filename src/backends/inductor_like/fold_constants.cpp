#include "backends/inductor_like/stages.h"

#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>

namespace repro_minify::inductor_like {
namespace {

bool is_plain_constant(const Value *value) {
  const auto *node = value->node();
  if (node->kind() == prim::ListConstruct)
    return std::all_of(node->inputs().begin(), node->inputs().end(), is_plain_constant);
  return node->kind() == prim::Constant;
}

bool depends_on_constants_alone(const Node *node, const std::set<const Value *> &constants) {
  if (node->isNondeterministic() || node->hasSideEffects() || node->kind() == prim::Constant)
    return false;
  const auto &inputs = node->inputs();
  return std::any_of(inputs.begin(), inputs.end(), [&](const auto *value) { return constants.count(value); }) &&
         std::all_of(inputs.begin(), inputs.end(),
                     [&](const auto *value) { return constants.count(value) || is_plain_constant(value); });
}

std::set<const Value *> constant_inputs(const StraightLine &line) {
  std::set<const Value *> constants;
  for (size_t k = 0; k < line.inputs.size(); ++k)
    if (line.constants[k])
      constants.insert(line.graph->inputs()[k]);
  return constants;
}

/// True if the node rounds to 16 bits: a kernel that reads its result reads the unrounded operand instead.
bool rounds(const Node *node, const ObservedTensor &result, const Observation &seen) {
  const auto *source = node->inputs().empty() ? nullptr : seen.tensor(node->input(0));
  return source && source->dtype != result.dtype && c10::isFloatingType(source->dtype) &&
         c10::isReducedFloatingType(result.dtype);
}

} // namespace

std::set<const Value *> constant_values(const StraightLine &line) {
  std::set<const Value *> constants = constant_inputs(line);
  for (const auto *node : line.graph->nodes())
    if (depends_on_constants_alone(node, constants))
      constants.insert(node->outputs().begin(), node->outputs().end());
  return constants;
}

StraightLine fold_constants(const StraightLine &line) {
  const Observation seen = observe(line);
  StraightLine result = line;
  std::set<const Value *> constants = constant_inputs(line);
  for (auto it = result.graph->nodes().begin(); it != result.graph->nodes().end();) {
    Node *node = *it++;
    const auto *tensor = node->outputs().size() == 1 ? seen.tensor(node->output()) : nullptr;
    if (!tensor || rounds(node, *tensor, seen) || !depends_on_constants_alone(node, constants))
      continue;
    Value *folded = result.graph->addInput()->setType(c10::TensorType::get());
    result.inputs.push_back(seen.constant(node->output()));
    result.constants.push_back(true);
    constants.insert(node->output()); // for the next one, which is looked up in what was observed
    constants.insert(folded);
    node->output()->replaceAllUsesWith(folded);
  }
  jit::EliminateDeadCode(result.graph);
  return result;
}

} // namespace repro_minify::inductor_like
