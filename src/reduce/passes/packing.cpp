// Packing: what is packed and unpacked again is read directly, what is cast to the type that it has is not cast, and a
// packed output is returned as its parts.
#include "program/atoms.h"
#include "program/surgery.h"
#include "reduce/passes/edit_constants.h"
#include "reduce/passes/pass.h"

#include <torch/csrc/jit/ir/constants.h>

namespace repro_minify {
namespace {

bool packs(const Node *node) {
  return node->kind() == prim::TupleConstruct || node->kind() == prim::ListConstruct;
}

/// The part that a constant index reads; negative ones count from the end.
std::vector<Value *> part(const Node *packing, const Value *index) {
  const auto number = torch::jit::toIValue(index);
  const auto size = static_cast<int64_t>(packing->inputs().size());
  if (!number || !number->isInt() || number->toInt() >= size || number->toInt() < -size)
    return {};
  return {const_cast<Node *>(packing)->input(static_cast<size_t>((number->toInt() + size) % size))};
}

std::vector<Value *> entry(const Node *dict, const Value *key) {
  const auto wanted = torch::jit::toIValue(key);
  for (size_t i = 0; wanted && i + 1 < dict->inputs().size(); i += 2)
    if (const auto here = torch::jit::toIValue(dict->input(i)); here && *here == *wanted)
      return {const_cast<Node *>(dict)->input(i + 1)};
  return {};
}

bool adds_nothing(const Node *cast) {
  return (cast->kind() == prim::unchecked_cast ||
          cast->kind() == c10::Symbol::fromQualString("aten::_unwrap_optional") ||
          cast->kind() == c10::Symbol::fromQualString("prim::unchecked_unwrap_optional")) &&
         cast->input(0)->type()->isSubtypeOf(*cast->output()->type());
}

/// Returns the values that can be read in place of a node's outputs; none where the node is needed.
std::vector<Value *> read_directly(Node *node) {
  if (adds_nothing(node))
    return {node->input(0)};
  const bool takes_apart = is_unpacking(node);
  const bool reads_one = node->kind() == prim::TupleIndex || node->kind() == c10::aten::__getitem__;
  if ((!takes_apart && !reads_one) || is_written_to(node->input(0)))
    return {};
  Node *made_by = node->input(0)->node();
  if (takes_apart && packs(made_by) && made_by->inputs().size() == node->outputs().size())
    return made_by->inputs().vec();
  if (reads_one && packs(made_by))
    return part(made_by, node->input(1));
  if (reads_one && made_by->kind() == prim::DictConstruct)
    return entry(made_by, node->input(1));
  return {};
}

Program unpacked(const Program &program, const std::vector<const Node *> &indirect, const std::vector<size_t> &which) {
  return edited(program, [&](EditableCopy &copy) {
    for (size_t i : which) {
      Node *node = copy.of(indirect[i]);
      const auto values = read_directly(node); // those before it may have brought it nearer to what it reads
      if (!values.empty())
        replace_node(node, values);
    }
    unpack_outputs(*copy.program.graph);
  });
}

} // namespace

void remove_packing(PassContext &context) {
  const Program start = context.current;
  std::vector<const Node *> indirect;
  for (Node *node : all_nodes(*start.graph))
    if (!read_directly(node).empty())
      indirect.push_back(node);
  const auto with = [&](const std::vector<size_t> &which) { return unpacked(start, indirect, which); };
  if (indirect.empty()) // an output may be packed still: not lower, and not asked, where none is
    context.try_candidate(with({}));
  else
    accept_in_bulk(context, indirect.size(), with);
}

} // namespace repro_minify
