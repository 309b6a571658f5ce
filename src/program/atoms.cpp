#include "program/atoms.h"

#include "program/graph.h"

#include <algorithm>
#include <set>

namespace repro_minify {

bool is_packing(const Node *node) {
  return node->kind() == prim::Constant || node->kind() == prim::ListConstruct ||
         node->kind() == prim::TupleConstruct || node->kind() == prim::DictConstruct ||
         node->kind() == prim::Uninitialized || node->kind() == prim::AutogradZero;
}

bool is_unpacking(const Node *node) {
  return node->kind() == prim::ListUnpack || node->kind() == prim::TupleUnpack;
}

bool is_tensor_like(const c10::TypePtr &type) {
  if (type->isSubtypeOf(*c10::TensorType::get()))
    return true;
  if (const auto optional = type->cast<c10::OptionalType>())
    return is_tensor_like(optional->getElementType());
  if (const auto list = type->cast<c10::ListType>())
    return is_tensor_like(list->getElementType());
  if (const auto tuple = type->cast<c10::TupleType>())
    return std::any_of(tuple->elements().begin(), tuple->elements().end(), is_tensor_like);
  return false;
}

AtomIndex::AtomIndex(std::shared_ptr<const Recording> given) : recording(std::move(given)) {
  find_atoms();
  find_uses();
  build_dataflow();
}

void AtomIndex::find_atoms() {
  const auto &nodes = recording->nodes;
  atom_of_node.assign(nodes.size(), -1);
  top_level_.assign(nodes.size(), -1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    Node *node = nodes[i];
    const bool nested = node->owningBlock() != recording->program.graph->block();
    const int owner = nested ? recording->node_index.at(node->owningBlock()->owningNode()) : -1;
    top_level_[i] = nested ? top_level_[owner] : static_cast<int>(i);
    if (is_packing(node))
      continue;
    if (is_unpacking(node) && recording->node_index.count(node->input()->node()) &&
        !is_packing(node->input()->node())) {
      atom_of_node[i] = atom_of_node[recording->node_index.at(node->input()->node())];
      continue;
    }
    atom_of_node[i] = static_cast<int>(atom_nodes.size());
    atom_nodes.push_back(node);
    parent.push_back(nested ? atom_of_node[owner] : -1);
  }
}

bool AtomIndex::is_block_input(const Value *value) const {
  return value->node()->kind() == prim::Param && value->node()->owningBlock() != recording->program.graph->block();
}

Version AtomIndex::version_at(const Value *value, int reader) const {
  const int position = reader < static_cast<int>(top_level_.size()) ? top_level_[reader] : reader;
  return {value, recording->writer_before(value, position)};
}

void AtomIndex::add_uses(int atom, const Value *value, int reader) {
  const Node *producer = value->node();
  if (producer->kind() == prim::Constant)
    return;
  const Version version = version_at(value, reader);
  if (is_packing(producer) && version.second == no_writer) {
    for (const Value *part : producer->inputs())
      add_uses(atom, part, reader);
    return;
  }
  uses.push_back({atom, version});
}

void AtomIndex::find_uses() {
  for (size_t i = 0; i < recording->nodes.size(); ++i) {
    const int atom = atom_of_node[i];
    if (atom < 0 || atom_nodes[atom] != recording->nodes[i])
      continue;
    for (const Value *input : recording->nodes[i]->inputs())
      add_uses(atom, input, static_cast<int>(i));
    for (const Block *block : recording->nodes[i]->blocks())
      for (const Value *output : block->outputs())
        add_uses(atom, output, static_cast<int>(i));
  }
  const int end = static_cast<int>(recording->nodes.size());
  for (const Value *output : recording->program.graph->outputs()) {
    outputs.push_back(version_at(output, end));
    add_uses(-1, output, end);
  }
}

int AtomIndex::defining_atom(const Version &version) const {
  if (version.second != no_writer)
    return atom_of_node[version.second];
  const Node *producer = version.first->node();
  if (is_block_input(version.first))
    producer = producer->owningBlock()->owningNode();
  const auto found = recording->node_index.find(producer);
  return found == recording->node_index.end() ? -1 : atom_of_node[found->second];
}

void AtomIndex::build_dataflow() {
  std::set<std::pair<int, int>> edges;
  const auto connect = [&](int from, int to) {
    if (from >= 0 && from < to)
      edges.emplace(from, to);
  };
  for (const auto &use : uses) {
    connect(defining_atom(use.version), use.atom);
    // A read after a write depends on what was written to as well.
    connect(defining_atom({use.version.first, no_writer}), use.atom);
  }
  for (size_t atom = 0; atom < parent.size(); ++atom)
    connect(parent[atom], static_cast<int>(atom));
  dataflow = std::make_unique<Dataflow>(static_cast<int>(atom_nodes.size()),
                                        std::vector<std::pair<int, int>>(edges.begin(), edges.end()));
}

} // namespace repro_minify
