#include "reduce/passes/single_edits.h"

#include "program/record.h"
#include "reduce/passes/pass.h"

#include <algorithm>
#include <set>

namespace repro_minify {
namespace {

using torch::jit::Node;
using torch::jit::Value;

bool same_type(const Value *a, const Value *b) {
  return *a->type() == *b->type() ||
         (a->type()->isSubtypeOf(*c10::TensorType::get()) && b->type()->isSubtypeOf(*c10::TensorType::get()));
}

/// The one result that anybody reads (a batch norm makes three, and two are for its gradient); null where several are.
Value *result_of(Node *node) {
  Value *result = nullptr;
  for (Value *output : node->outputs()) {
    if (!output->hasUses())
      continue;
    if (result)
      return nullptr;
    result = output;
  }
  return result;
}

/// The node removed, its result read from its operand number `operand`.
Program bypassed(const Program &program, int node, size_t operand) {
  Program result = copy_of(program);
  Node *victim = all_nodes(*result.graph)[node];
  result_of(victim)->replaceAllUsesWith(victim->input(operand));
  victim->destroy();
  drop_unused(result);
  return result;
}

/// A node whose results nobody reads, gone without a trace. (A cut would return what it read.)
Program without_unread(const Program &program, int node) {
  Program result = copy_of(program);
  all_nodes(*result.graph)[node]->destroy();
  drop_unused(result);
  return result;
}

bool is_graph_input(const Value *value) {
  return value->node() == value->owningGraph()->param_node();
}

bool is_only_returned(const Value *value) {
  const auto &uses = value->uses();
  return std::all_of(uses.begin(), uses.end(),
                     [&](const auto &use) { return use.user == value->owningGraph()->return_node(); });
}

/// The values a node reads that another node made.
std::set<const Value *> made_operands(const Node *node) {
  std::set<const Value *> made;
  for (const Value *input : node->inputs())
    if (!is_graph_input(input) && input->node()->kind() != torch::jit::prim::Constant)
      made.insert(input);
  return made;
}

/// Where a cut of the node leaves the same operators in the same places, with the recorded value for an input at most:
/// the operand is an input that nothing else reads, or the node's result is only returned, and its operand would be.
bool is_what_a_cut_does(Node *node, const Value *operand) {
  if (is_only_returned(result_of(node)))
    return is_graph_input(operand) || made_operands(node).size() == 1;
  const auto &uses = operand->uses();
  return is_graph_input(operand) &&
         std::all_of(uses.begin(), uses.end(), [&](const auto &use) { return use.user == node; });
}

} // namespace

std::vector<Judge::LazyProgram> single_edits(const Program &program, int number) {
  auto candidates = loop_edits(program, number);
  Node *node = all_nodes(*program.graph)[number];
  if (!counts_as_operator(node))
    return candidates;
  if (!node->hasUses())
    candidates.push_back([&program, number] { return without_unread(program, number); });
  const Value *result = result_of(node);
  if (!node->blocks().empty() || !result)
    return candidates;
  std::set<const Value *> tried;
  for (size_t operand = 0; operand < node->inputs().size(); ++operand) {
    const Value *value = node->input(operand);
    if (same_type(result, value) && !is_what_a_cut_does(node, value) && tried.insert(value).second)
      candidates.push_back([&program, number, operand] { return bypassed(program, number, operand); });
  }
  return candidates;
}

} // namespace repro_minify
