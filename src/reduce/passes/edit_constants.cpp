#include "reduce/passes/edit_constants.h"

#include "program/python_call.h"
#include "program/surgery.h"
#include "repro_minify/record.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

namespace repro_minify {
namespace {

/// At the top level, before the top-level node that `node` is or is inside of.
Value *existing(Node *node, const c10::IValue &value, const c10::Type &type) {
  auto *graph = node->owningGraph();
  const Node *top = outermost(node);
  for (Node *other : graph->block()->nodes()) {
    if (other == top)
      return nullptr;
    if (other->kind() != prim::Constant || *other->output()->type() != type)
      continue;
    const auto held = torch::jit::toIValue(other->output());
    if (held && held->tagKind() == value.tagKind() && *held == value)
      return other->output();
  }
  return nullptr;
}

void set_argument(Node *node, size_t i, const c10::IValue &value) {
  if (Value *constant = existing(node, value, *value.type())) {
    node->replaceInput(i, constant);
    return;
  }
  torch::jit::WithInsertPoint guard(node);
  node->replaceInput(i, node->owningGraph()->insertConstant(value));
}

bool names_a_size(const std::string &argument) {
  static const std::set<std::string> names = {"size",        "sizes",  "shape",      "normalized_shape", "output_size",
                                              "kernel_size", "length", "split_size", "split_sizes",      "num_classes"};
  return names.count(argument) != 0;
}

bool names_an_index(const std::string &argument) {
  return argument == "index" || argument == "start";
}

/// A constant that is a number, where a size or an index is read.
struct Slot {
  const Node *node;
  size_t argument;
  c10::IValue value; ///< an int or a list of ints
  bool index;
};

std::vector<Slot> slots_of(Graph &graph) {
  std::vector<Slot> slots;
  const auto add = [&slots](const Node *node, size_t i, bool index) {
    const auto value = torch::jit::toIValue(node->input(i));
    if (value && (value->isInt() || value->isIntList()))
      slots.push_back({node, i, *value, index});
  };
  std::set<const Node *> lists;
  for (const Node *node : all_nodes(graph)) {
    if (node->kind() == prim::Loop)
      add(node, 0, false);
    for (size_t i = 1; is_python_call(node) && i < node->inputs().size(); ++i)
      add(node, i, false); // any of its numbers may be a size: it says of none what it is
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const auto *argument = argument_of(node, i);
      if (!argument || !(names_a_size(argument->name()) || names_an_index(argument->name())))
        continue;
      add(node, i, names_an_index(argument->name()));
      const Node *list = node->input(i)->node();
      if (list->kind() == prim::ListConstruct && names_a_size(argument->name()) && lists.insert(list).second)
        for (size_t part = 0; part < list->inputs().size(); ++part)
          add(list, part, false);
    }
  }
  return slots;
}

/// The last that is left of the smallest dimension it may be meant for.
int64_t mapped_index(int64_t index, const SizeMap &map) {
  int64_t result = index;
  for (const auto &[from, to] : map)
    if (index > 0 && index < from)
      result = std::min(result, to - 1);
    else if (index < 0 && -index <= from)
      result = std::max(result, -to);
  return result;
}

c10::IValue mapped(const Slot &slot, const SizeMap &map, const std::set<int64_t> &sizes, bool all_factors) {
  const auto one = [&](int64_t number) {
    return slot.index ? mapped_index(number, map) : mapped_size(number, map, sizes, all_factors).value_or(number);
  };
  if (slot.value.isInt())
    return one(slot.value.toInt());
  std::vector<int64_t> numbers = slot.value.toIntVector();
  std::transform(numbers.begin(), numbers.end(), numbers.begin(), one);
  return numbers;
}

} // namespace

Program with_arguments(const Program &program, const std::vector<ArgumentEdit> &edits) {
  return edited(program, [&](EditableCopy &copy) {
    for (const ArgumentEdit &edit : edits)
      set_argument(copy.of(edit.node), edit.argument, edit.value);
  });
}

bool is_size(const Node *node, size_t i) {
  if (const auto *argument = argument_of(node, i))
    return names_a_size(argument->name());
  if (node->kind() != prim::ListConstruct)
    return false;
  const auto &uses = node->output()->uses();
  return std::any_of(uses.begin(), uses.end(),
                     [](const torch::jit::Use &use) { return is_size(use.user, use.offset); });
}

std::set<int64_t> sizes_in_graph(const Program &program) {
  std::set<int64_t> sizes;
  for (const Slot &slot : slots_of(*program.graph)) {
    if (slot.index || slot.node->kind() == prim::Loop)
      continue;
    if (slot.value.isInt())
      sizes.insert(slot.value.toInt());
    else
      for (int64_t number : slot.value.toIntVector())
        sizes.insert(number);
  }
  sizes.erase(sizes.begin(), sizes.upper_bound(1));
  return sizes;
}

std::optional<int64_t> mapped_size(int64_t size, const SizeMap &map, const std::set<int64_t> &sizes, bool all_factors) {
  if (const auto found = map.find(size); found != map.end())
    return found->second;
  const auto to = [&map](int64_t factor) {
    const auto found = map.find(factor);
    return found == map.end() ? factor : found->second;
  };
  for (int64_t a : sizes) {
    if (a >= size || size % a != 0 || !map.count(a))
      continue;
    const int64_t rest = size / a;
    const auto other = [&](int64_t factor) { return all_factors ? to(factor) : factor; };
    if (sizes.count(rest))
      return to(a) * other(rest);
    for (int64_t b : sizes)
      if (rest % b == 0 && sizes.count(rest / b))
        return to(a) * other(b) * other(rest / b);
  }
  return std::nullopt;
}

std::optional<Program> with_size_constants(const Program &program, const SizeMap &map, const std::set<int64_t> &sizes,
                                           bool all_factors) {
  std::vector<ArgumentEdit> edits;
  for (const Slot &slot : slots_of(*program.graph))
    if (c10::IValue value = mapped(slot, map, sizes, all_factors); value != slot.value)
      edits.push_back({slot.node, slot.argument, std::move(value)});
  if (edits.empty())
    return std::nullopt;
  return with_arguments(program, edits);
}

} // namespace repro_minify
