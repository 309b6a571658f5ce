#include "reduce/passes/remake_input.h"

#include "program/atoms.h"
#include "program/surgery.h"
#include "reduce/passes/edit_constants.h"
#include "repro_minify/record.h"

#include <algorithm>
#include <set>

namespace repro_minify {
namespace {

bool same_type(const Value *a, const Value *b) {
  return *a->type() == *b->type() ||
         (a->type()->isSubtypeOf(*c10::TensorType::get()) && b->type()->isSubtypeOf(*c10::TensorType::get()));
}

bool holds_values(const Value *value) {
  const auto kind = value->type()->kind();
  return kind == c10::TypeKind::ListType || kind == c10::TypeKind::TupleType || kind == c10::TypeKind::DictType;
}

/// Adds the parts that are read of a list or tuple; the value itself where it is read in another way than by taking it
/// apart.
void add_results(Value *value, std::vector<Value *> &results) {
  const auto &uses = value->uses();
  if (!holds_values(value) ||
      !std::all_of(uses.begin(), uses.end(), [](const auto &use) { return is_unpacking(use.user); }))
    return results.push_back(value);
  for (const auto &use : uses)
    for (Value *part : use.user->outputs())
      if (part->hasUses())
        add_results(part, results);
}

/// Returns the values that are read of the node. (A batch norm makes three values, and two are for its gradient.)
std::vector<Value *> results_of(Node *node) {
  std::vector<Value *> results;
  for (Value *output : node->outputs())
    if (output->hasUses())
      add_results(output, results);
  return results;
}

/// True if the value is there already where the node is.
bool is_there(const Value *value, const Node *node) {
  for (const Node *outer = node; outer; outer = outer->owningBlock()->owningNode())
    if (outer->owningBlock() == value->node()->owningBlock())
      return value->node()->kind() == prim::Param || value->node()->isBefore(node);
  return false;
}

/// Operators that write to what they are given first (aten::append), in the order of the program: that of the uses says
/// how the graph was edited.
std::vector<Node *> fillers_of(const Value *holder) {
  std::vector<Node *> fillers;
  for (const auto &use : holder->uses())
    if (writes(use.user) && use.offset == 0)
      fillers.push_back(use.user);
  std::sort(fillers.begin(), fillers.end(), [](const Node *a, const Node *b) { return a->isBefore(b); });
  return fillers;
}

/// Adds the values that a list, tuple or dict was made of or filled with. Two lists may be filled with each other.
void add_parts(const Value *holder, std::vector<Value *> &parts, std::set<const Value *> &seen) {
  if (!seen.insert(holder).second)
    return;
  std::vector<Node *> sources = fillers_of(holder);
  sources.insert(sources.begin(), const_cast<Node *>(holder->node()));
  for (Node *source : sources)
    for (Value *part : source->inputs())
      if (part != holder && !holds_values(part))
        parts.push_back(part);
      else if (part != holder)
        add_parts(part, parts, seen);
}

/// Returns the values that can be read in place of the node's results: its operands, then what those hold.
std::vector<Value *> stand_ins(Node *node) {
  std::vector<Value *> result(node->inputs().begin(), node->inputs().end());
  std::set<const Value *> seen;
  for (Value *operand : node->inputs())
    if (holds_values(operand))
      add_parts(operand, result, seen);
  std::erase_if(result, [&](const Value *value) { return !is_there(value, node); });
  return result;
}

void destroy_unpacking(Node *node) {
  for (const Value *output : node->outputs())
    while (output->hasUses()) {
      Node *unpacking = output->uses().front().user;
      destroy_unpacking(unpacking);
      unpacking->destroy();
    }
}

/// The node removed, its results read from `instead`.
Program bypassed(const Program &program, const Node *node, const std::vector<Value *> &results, const Value *instead) {
  return edited(program, [&](EditableCopy &copy) {
    for (const Value *value : results)
      copy.of(value)->replaceAllUsesWith(copy.of(instead));
    Node *victim = copy.of(node);
    destroy_unpacking(victim);
    victim->destroy();
  });
}

/// Returns the Program without a node whose results are never read. (A cut would return what the node read.)
Program without_unread(const Program &program, const Node *node) {
  return edited(program, [&](EditableCopy &copy) { copy.of(node)->destroy(); });
}

bool is_graph_input(const Value *value) {
  return value->node() == value->owningGraph()->param_node();
}

bool returns(const torch::jit::Use &use) {
  return use.user == use.user->owningGraph()->return_node();
}

bool is_only_returned(const Value *value) {
  return std::all_of(value->uses().begin(), value->uses().end(), returns);
}

bool is_returned(const Value *value) {
  return std::any_of(value->uses().begin(), value->uses().end(), returns);
}

/// True if a cut returns the same without the node: it returns what it makes alone, so neither a result that is read
/// further on too, nor an input.
bool returns_the_same_without(const std::vector<Value *> &results) {
  const auto inputs = results.front()->owningGraph()->inputs();
  return std::none_of(inputs.begin(), inputs.end(), is_returned) &&
         std::none_of(results.begin(), results.end(),
                      [](const Value *result) { return is_returned(result) && !is_only_returned(result); });
}

/// The values a node reads that another node made, packed ones one by one.
void add_made_operands(const Node *node, std::set<const Value *> &made) {
  for (const Value *input : node->inputs())
    if (is_packing(input->node()))
      add_made_operands(input->node(), made);
    else if (!is_graph_input(input))
      made.insert(input);
}

/// Packed or not.
bool is_only_read_by(const Value *value, const Node *node) {
  const auto &uses = value->uses();
  return std::all_of(uses.begin(), uses.end(), [&](const auto &use) {
    return use.user == node || (is_packing(use.user) && is_only_read_by(use.user->output(), node));
  });
}

/// Where a cut of the node leaves the same operators in the same places, with the recorded value for an input at most:
/// the operand is an input that nothing else reads, or the node's results are only returned, and its operand would be.
bool is_what_a_cut_does(Node *node, const std::vector<Value *> &results, const Value *operand) {
  if (!returns_the_same_without(results))
    return false;
  if (std::all_of(results.begin(), results.end(), is_only_returned)) {
    std::set<const Value *> made;
    add_made_operands(node, made);
    return is_graph_input(operand) || made.size() == 1;
  }
  return is_graph_input(operand) && is_only_read_by(operand, node);
}

/// The loop's carried value number `carried` left as it was before the loop.
Program without_carried(const Program &program, const Node *original, size_t carried) {
  return edited(program, [&](EditableCopy &copy) {
    Node *loop = copy.of(original);
    Block *body = loop->blocks()[0];
    Value *before = loop->input(carried + 2);
    body->inputs()[carried + 1]->replaceAllUsesWith(before);
    loop->output(carried)->replaceAllUsesWith(before);
    body->eraseOutput(carried + 1);
    body->eraseInput(carried + 1);
    loop->eraseOutput(carried);
    loop->removeInput(carried + 2);
  });
}

/// Each value that this prim::Loop carries left as it was before the loop; none for another node.
std::vector<LazyProgram> loop_edits(const Program &program, const Node *loop) {
  std::vector<LazyProgram> candidates;
  if (loop->kind() == prim::Loop)
    for (size_t carried = 0; carried < loop->outputs().size(); ++carried)
      candidates.push_back([&program, loop, carried] { return without_carried(program, loop, carried); });
  return candidates;
}

} // namespace

std::vector<LazyProgram> single_edits(const Program &program, int number) {
  Node *node = all_nodes(*program.graph)[number];
  auto candidates = loop_edits(program, node);
  if (!counts_as_operator(node))
    return candidates;
  if (!node->hasUses())
    candidates.push_back([&program, node] { return without_unread(program, node); });
  const auto results = results_of(node);
  if (!node->blocks().empty() || results.empty())
    return candidates;
  std::set<const Value *> tried;
  for (const Value *value : stand_ins(node)) {
    const bool fits = std::all_of(results.begin(), results.end(), [&](auto *one) { return same_type(one, value); });
    if (fits && !is_what_a_cut_does(node, results, value) && tried.insert(value).second)
      candidates.push_back([=, &program] { return bypassed(program, node, results, value); });
  }
  return candidates;
}

} // namespace repro_minify
