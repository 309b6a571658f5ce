#include "program/flat_graph.h"
#include "program/surgery.h"
#include "repro_minify/record.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inline_fork_wait.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <unordered_map>

namespace repro_minify {
namespace {

using torch::jit::WithInsertPoint;
using ObjectPtr = c10::intrusive_ptr<c10::ivalue::Object>;

/// A method of a C++ class is an operator like others.
bool is_call(const Node *node) {
  if (node->kind() == prim::CallFunction)
    return true;
  if (node->kind() != prim::CallMethod)
    return false;
  const auto type = node->input(0)->type()->cast<c10::ClassType>();
  const auto *method = type ? type->findMethod(node->s(torch::jit::attr::name)) : nullptr;
  return !method || method->isGraphFunction();
}

/// How often the callee of a method call is among those that the call was inlined from.
int recursion_depth(const Node *node) {
  const auto type = node->kind() == prim::CallMethod ? node->input(0)->type()->cast<c10::ClassType>() : nullptr;
  const auto *callee = type ? type->findMethod(node->s(torch::jit::attr::name)) : nullptr;
  const auto stack = node->callstack();
  int depth = 0;
  if (callee && stack)
    for (const auto &entry : (*stack)->vec())
      depth += std::get<0>(entry) == callee;
  return depth;
}

/// An object that is handed its own kind can call itself: a dozen levels of modules of one class are none too many, but
/// what goes on is not going to end.
bool recurs(const Block *block) {
  constexpr int most_levels = 12;
  return any_node(block, [](const Node *node) { return recursion_depth(node) > most_levels; });
}

/// A submodule that is declared as a module interface gets the type of the one that is there: only a class's methods
/// can be inlined.
void settle_interfaces(Block *block, std::unordered_map<const Value *, ObjectPtr> &objects) {
  for (Node *node : block->nodes()) {
    for (Block *inner : node->blocks())
      settle_interfaces(inner, objects);
    if (node->kind() != prim::GetAttr || !objects.count(node->input()))
      continue;
    const auto value = objects.at(node->input())->getAttr(node->s(torch::jit::attr::name));
    if (!value.isObject())
      continue;
    objects[node->output()] = value.toObject();
    if (node->output()->type()->cast<c10::InterfaceType>())
      node->output()->setType(value.toObject()->type());
  }
}

/// `with` calls a method of an object where it begins and another where it ends; written out, both can be inlined.
/// Blocks of autocast have to wait until all else is.
void write_out_with(Block *block, bool of_autocast) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node *node = *it++;
    for (Block *inner : node->blocks())
      write_out_with(inner, of_autocast);
    const bool enters = node->kind() == prim::Enter;
    if ((!enters && node->kind() != prim::Exit) || is_autocast_block(node) != of_autocast)
      continue;
    Graph &graph = *node->owningGraph();
    WithInsertPoint guard(node);
    std::vector<Value *> operands = {node->input(0)};
    while (!enters && operands.size() < 4) // no exception has been thrown
      operands.push_back(graph.insertConstant(c10::IValue()));
    Node *call = graph.insertNode(graph.create(prim::CallMethod, operands, 1));
    call->s_(torch::jit::attr::name, enters ? "__enter__" : "__exit__");
    call->output()->setType(c10::NoneType::get());
    if (const auto type = node->input(0)->type()->cast<c10::ClassType>())
      call->output()->setType(type->getMethod(call->s(torch::jit::attr::name)).getSchema().returns().at(0).type());
    node->output()->replaceAllUsesWith(call->output());
    node->destroy();
  }
}

/// True if the block waits for a future that cannot be told from others, as it went through a list.
bool waits_for_unknown(const Block *block) {
  return any_node(block, [](const Node *node) { return node->kind() == torch::jit::aten::wait; });
}

/// While the executor may optimise, Inline pastes in callees that were run through peephole passes first: the very
/// passes whose faults are looked for. While it may not, Inline goes one level deep.
class OptimisesNothing {
public:
  OptimisesNothing() { torch::jit::setGraphExecutorOptimize(false); }
  ~OptimisesNothing() { torch::jit::setGraphExecutorOptimize(before_); }
  OptimisesNothing(const OptimisesNothing &) = delete;
  OptimisesNothing &operator=(const OptimisesNothing &) = delete;

private:
  const bool before_ = torch::jit::getGraphExecutorOptimize();
};

/// Functions that call functions twice grow without bound, and they grow in the process that reduces.
constexpr size_t most_nodes = 300'000;

/// Level by level: what is pasted in has calls, tasks and blocks of its own.
void inline_all(const std::shared_ptr<Graph> &graph, const ObjectPtr &self) {
  const auto prepare = [&] {
    torch::jit::InlineForkWait(graph);
    write_out_with(graph->block(), /*of_autocast=*/false);
  };
  prepare();
  for (int depth = 0; depth < 100 && any_node(graph->block(), is_call); ++depth) {
    std::unordered_map<const Value *, ObjectPtr> objects = {{graph->inputs()[0], self}};
    settle_interfaces(graph->block(), objects);
    if (recurs(graph->block()))
      break;
    torch::jit::Inline(*graph);
    prepare();
    if (all_nodes(*graph).size() > most_nodes)
      throw CannotFlatten("its calls, inlined, are more than " + std::to_string(most_nodes) + " nodes");
  }
  if (any_node(graph->block(), is_call))
    throw CannotFlatten("the model calls something that cannot be inlined (recursion, or an object's method that is "
                        "chosen while the model runs)");
  if (waits_for_unknown(graph->block()))
    throw CannotFlatten("the model waits for a task that is chosen while the model runs");
}

} // namespace

void inline_calls(const std::shared_ptr<Graph> &graph, const ObjectPtr &self) {
  const OptimisesNothing guard;
  inline_all(graph, self);
  write_out_casts(graph);
  write_out_with(graph->block(), /*of_autocast=*/true);
  inline_all(graph, self);
}

} // namespace repro_minify
