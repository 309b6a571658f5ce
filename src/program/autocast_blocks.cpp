#include "program/flat_graph.h"

#include "program/compute.h"
#include "program/surgery.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/autocast.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace repro_minify {
namespace {

/// Returns the value if it is the same for all inputs, computed from constants and through branches that they decide;
/// nothing where it is not known.
std::optional<c10::IValue> known_value(const Value *value) {
  Node *node = const_cast<Node *>(value->node());
  if (node->kind() == prim::Constant)
    return torch::jit::toIValue(value);
  if (node->kind() == prim::unchecked_cast)
    return known_value(node->input());
  if (node->kind() == prim::If) {
    const auto taken = known_value(node->input());
    return taken ? known_value(node->blocks()[taken->toBool() ? 0 : 1]->outputs()[value->offset()]) : std::nullopt;
  }
  // No tensor is made here, in the process that reduces: a model could ask for as much memory as it likes.
  if (!node->kind().is_aten() || !node->blocks().empty() || node->outputs().size() != 1 || node->inputs().empty() ||
      node->output()->type()->isSubtypeOf(*c10::TensorType::get()))
    return std::nullopt;
  std::vector<c10::IValue> stack;
  for (const Value *input : node->inputs()) {
    const auto operand = known_value(input);
    if (!operand || operand->isTensor())
      return std::nullopt;
    stack.push_back(*operand);
  }
  run_node(node, stack);
  return stack.at(0);
}

/// Makes constants of the arguments that an autocast block was made with: LibTorch's pass takes no others.
void settle_arguments(Node *enter) {
  for (const auto &use : enter->input(0)->uses()) {
    if (use.user->kind() != prim::SetAttr || use.offset != 0 || use.user->input(1)->node()->kind() == prim::Constant)
      continue;
    if (const auto value = known_value(use.user->input(1))) {
      torch::jit::WithInsertPoint guard(use.user);
      use.user->replaceInput(1, use.user->owningGraph()->insertConstant(*value));
    }
  }
}

} // namespace

bool is_autocast_block(const Node *node) {
  // The classes that LibTorch's autocast pass knows.
  static const std::set<std::string> classes = {"__torch__.torch.amp.autocast_mode.autocast",
                                                "__torch__.torch.cpu.amp.autocast_mode.autocast",
                                                "__torch__.torch.cuda.amp.autocast_mode.autocast"};
  if (node->kind() != prim::Enter && node->kind() != prim::Exit)
    return false;
  const auto type = node->input(0)->type()->cast<c10::ClassType>();
  return type && classes.count(type->name()->qualifiedName()) > 0;
}

void write_out_casts(const std::shared_ptr<Graph> &graph) {
  std::vector<Node *> enters;
  for (Node *node : all_nodes(*graph))
    if (node->kind() == prim::Enter && is_autocast_block(node))
      enters.push_back(node);
  if (enters.empty())
    return;
  std::for_each(enters.begin(), enters.end(), settle_arguments);
  try {
    torch::jit::Autocast(graph);
  } catch (const std::exception &error) {
    throw CannotFlatten("the model has an autocast block that cannot be written out: " + first_sentence(error.what()));
  }
}

void write_out_casts(torch::jit::Module &module) {
  const auto forward = module.find_method("forward");
  const auto unit = module._ivalue()->compilation_unit();
  bool any = false;
  for (auto *function : unit->get_functions())
    if (auto *graph_function = torch::jit::tryToGraphFunction(*function))
      any |= any_node(graph_function->graph()->block(), is_autocast_block);
  if (!any || !forward)
    return;
  const auto graph = torch::jit::toGraphFunction(forward->function()).graph()->copy();
  try {
    inline_calls(graph, module._ivalue());
  } catch (const CannotFlatten &) {
    return;
  }
  const auto type = module._ivalue()->type();
  const c10::QualifiedName name(*type->name(), "forward");
  type->unsafeRemoveMethod("forward");
  type->addMethod(unit->create_function(name, graph, /*shouldMangle=*/true));
}

} // namespace repro_minify
