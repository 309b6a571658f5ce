#include "program/cut.h"

#include "program/atoms.h"
#include "program/materialise.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
using torch::jit::WithInsertPoint;
namespace prim = torch::jit::prim;

bool contains(const IndexSet &set, int element) {
  return std::binary_search(set.begin(), set.end(), element);
}

/// Builds one cut. `resolve` is the heart: which value of the new graph stands for a version of an old one.
class CutBuilder {
public:
  CutBuilder(const AtomIndex &index, const IndexSet &kept)
      : index_(index), kept_(kept), recording_(*index.recording), inputs_(program_) {
    program_.graph = std::make_shared<Graph>();
    program_.provenance = recording_.program.provenance;
    anchor_ = graph().insertConstant(c10::IValue())->node();
  }

  Program build(const std::vector<Version> &exposed) {
    add_original_inputs();
    for (Node *node : recording_.program.graph->nodes())
      if (keeps(index_.atom_of_node[recording_.node_index.at(node)]))
        copy_node(node, graph().block());
    std::set<Value *> done;
    current_ = graph().return_node();
    for (const Version &version : exposed) {
      Value *value = resolve(version);
      if (done.insert(value).second)
        graph().registerOutput(value);
    }
    anchor_->destroy();
    drop_unused(program_);
    return std::move(program_);
  }

private:
  Graph &graph() { return *program_.graph; }
  bool keeps(int atom) const { return atom >= 0 && contains(kept_, atom); }

  /// In the order of the original signature, used or not; what is not is dropped at the end.
  void add_original_inputs() {
    const auto &original = recording_.program;
    for (size_t i = 0; i < original.inputs.size(); ++i) {
      const Value *value = original.graph->inputs()[i];
      const auto &input = original.inputs[i];
      const auto *contents = recording_.lookup(value, no_writer);
      for_each_tensor(contents ? *contents : input.value,
                      [&](const at::Tensor &tensor) { storages_.insert(storage_of(tensor)); });
      Value *added = inputs_.add_tensor(contents ? *contents : input.value, input.role, input.name, input.formula);
      values_[{value, no_writer}] = added;
    }
  }

  Value *resolve(const Version &version) {
    const auto known = values_.find(version);
    if (known != values_.end())
      return known->second;
    const auto produced = version.second == no_writer ? produced_.find(version.first) : produced_.end();
    Value *result;
    if (produced != produced_.end())
      result = produced->second;
    else if (version.first->node()->kind() == prim::Constant)
      result = copy_constant(version.first);
    else if (version.second != no_writer && keeps(index_.atom_of_node[version.second]))
      result = resolve(index_.version_at(version.first, version.second));
    else if (version.second == no_writer && is_packing(version.first->node()))
      result = copy_packing(version.first->node());
    else
      result = cut_value(version);
    values_[version] = result;
    return result;
  }

  Value *copy_constant(const Value *value) {
    WithInsertPoint guard(anchor_);
    return graph()
        .insertNode(graph().createClone(const_cast<Node *>(value->node()), [](Value *v) { return v; }))
        ->output();
  }

  /// At the top level, in front of the node that is being copied: nobody reads it earlier.
  Value *copy_packing(const Node *node) {
    std::vector<Value *> parts;
    const int position = recording_.node_index.at(node);
    for (const Value *part : node->inputs())
      parts.push_back(resolve(index_.version_at(part, position)));
    size_t next = 0;
    WithInsertPoint guard(current_);
    return graph()
        .insertNode(graph().createClone(const_cast<Node *>(node), [&](Value *) { return parts[next++]; }))
        ->output();
  }

  /// What the eager run recorded. A version nobody read is taken as the nearest earlier one that somebody did.
  Value *cut_value(const Version &version) {
    int writer = version.second;
    const c10::IValue *contents = recording_.lookup(version.first, writer);
    while (!contents && writer != no_writer) {
      writer = recording_.writer_before(version.first, writer);
      contents = recording_.lookup(version.first, writer);
    }
    if (!contents)
      throw CannotMaterialise("value %" + version.first->debugName() + " was not recorded");
    WithInsertPoint guard(anchor_);
    return inputs_.materialise(unshared(*contents), version.first->type(), role_of(version.first),
                               name_of(version.first));
  }

  /// A cut value gets memory of its own. In the original run it may have shared another's, but whoever runs the repro
  /// loads or clones inputs one by one, and a failure that needs two inputs to overlap would be gone.
  c10::IValue unshared(const c10::IValue &value) {
    bool shared = false;
    for_each_tensor(value, [&](const at::Tensor &tensor) { shared |= !storages_.insert(storage_of(tensor)).second; });
    if (!shared)
      return value;
    return SharedCloner().clone(value);
  }

  Role role_of(const Value *value) const {
    const auto found = recording_.value_index.at(value);
    const auto &originals = recording_.program.inputs;
    return found < static_cast<int>(originals.size()) ? originals[found].role : Role::Input;
  }

  static std::string name_of(const Value *value) {
    const std::string given = value->hasDebugName() ? value->debugName() : "";
    const std::string base = given.substr(0, given.find('.'));
    return base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))
               ? std::string(value->node()->kind().toUnqualString())
               : base;
  }

  void copy_node(Node *node, Block *into) {
    const int position = recording_.node_index.at(node);
    if (into == graph().block())
      current_ = graph().return_node();
    std::vector<Value *> operands;
    for (Value *input : node->inputs())
      operands.push_back(resolve(index_.version_at(input, position)));
    size_t next = 0;
    Node *copy;
    if (node->blocks().empty()) {
      copy = graph().createClone(node, [&](Value *) { return operands[next++]; });
      into->appendNode(copy);
    } else {
      copy = graph().create(node->kind(), operands, node->outputs().size());
      copy->copyMetadata(node);
      into->appendNode(copy);
      for (size_t i = 0; i < node->outputs().size(); ++i)
        copy->output(i)->copyMetadata(node->output(i));
      for (Block *block : node->blocks()) {
        if (into == graph().block())
          current_ = copy;
        copy_block(block, copy->addBlock());
      }
    }
    for (size_t i = 0; i < node->outputs().size(); ++i)
      produced_[node->output(i)] = copy->output(i);
  }

  void copy_block(Block *from, Block *into) {
    for (Value *input : from->inputs()) {
      Value *copy = into->addInput();
      copy->copyMetadata(input);
      produced_[input] = copy;
    }
    for (Node *node : from->nodes()) {
      const int position = recording_.node_index.at(node);
      if (is_packing(node) && node->kind() != prim::Constant)
        copy_nested_packing(node, into);
      else if (keeps(index_.atom_of_node[position]))
        copy_node(node, into);
    }
    const int owner = recording_.node_index.at(from->owningNode());
    for (Value *output : from->outputs())
      into->registerOutput(resolve(index_.version_at(output, owner)));
  }

  /// Packing inside a block is copied where it stands, whoever needs it later; unused, it is removed at the end.
  void copy_nested_packing(Node *node, Block *into) {
    std::vector<Value *> parts;
    try {
      for (const Value *part : node->inputs())
        parts.push_back(resolve(index_.version_at(part, recording_.node_index.at(node))));
    } catch (const CannotMaterialise &) {
      return; // In a branch that was not taken, and nothing kept needs it.
    }
    size_t next = 0;
    Node *copy = into->appendNode(graph().createClone(node, [&](Value *) { return parts[next++]; }));
    produced_[node->output()] = copy->output();
  }

  const AtomIndex &index_;
  const IndexSet &kept_;
  const Recording &recording_;
  Program program_;
  InputBuilder inputs_;
  std::map<Version, Value *> values_;
  std::unordered_map<const Value *, Value *> produced_;
  std::set<void *> storages_; ///< memory that inputs of the new Program live in
  Node *anchor_;              ///< cut values and constants are made in front of it, before all that is kept
  Node *current_ = nullptr;   ///< the top-level position that is being filled
};

} // namespace

struct Cutter::Impl : AtomIndex {
  using AtomIndex::AtomIndex;

  bool recorded(const Version &version) const {
    int writer = version.second;
    while (!recording->lookup(version.first, writer)) {
      if (writer == no_writer)
        return false;
      writer = recording->writer_before(version.first, writer);
    }
    return true;
  }

  /// An atom that makes no tensor (aten::size, aten::dim) asked for the shape at most: a wrong value would not show
  /// there, and one more output can keep a backend from fusing.
  bool reads_data(int atom) const {
    const auto made = atom_nodes[atom]->outputs();
    return made.empty() ||
           std::any_of(made.begin(), made.end(), [](const Value *value) { return is_tensor_like(value->type()); });
  }

  /// The top-level node in whose blocks a value is made; nullptr for one made outside of any.
  const Node *owner_of(const Value *value) const {
    const Node *owner = nullptr;
    for (const Block *block = value->node()->owningBlock(); block != recording->program.graph->block();
         block = owner->owningBlock())
      owner = block->owningNode();
    return owner;
  }

  struct Exposed {
    Version version;
    int atom;
  };

  /// What a cut at `kept` shows to the outside, original outputs first.
  std::vector<Exposed> exposed(const IndexSet &kept, bool all) const {
    std::vector<Exposed> result;
    std::set<std::pair<int, int>> done;
    const auto add = [&](const Version &version, bool any_type) {
      const int atom = defining_atom(version);
      if (atom < 0 || !contains(kept, atom) || (!any_type && !is_tensor_like(version.first->type())))
        return;
      if (done.emplace(recording->value_index.at(version.first), version.second).second)
        result.push_back({version, atom});
    };
    for (const auto &output : outputs)
      if (!is_packing(output.first->node()) || output.second != no_writer)
        add(output, true);
    for (const auto &use : uses) {
      if (use.atom >= 0 && (contains(kept, use.atom) || !reads_data(use.atom)))
        continue;
      const Node *owner = owner_of(use.version.first);
      if (!owner)
        add(use.version, false);
      else if (contains(kept, defining_atom(use.version)))
        // What is made inside a block cannot be returned from outside it: what the block makes of it is.
        for (const Value *made : owner->outputs())
          add({made, no_writer}, false);
    }
    if (all)
      for (int atom : kept)
        for (const Value *output : atom_nodes[atom]->outputs())
          if (!owner_of(output))
            add({output, no_writer}, false);
    return result;
  }
};

Cutter::Cutter(std::shared_ptr<const Recording> recording) : impl_(std::make_unique<Impl>(std::move(recording))) {}
Cutter::~Cutter() = default;

int Cutter::atoms() const {
  return static_cast<int>(impl_->atom_nodes.size());
}
const Node *Cutter::node_of(int atom) const {
  return impl_->atom_nodes.at(atom);
}
const Dataflow &Cutter::dataflow() const {
  return *impl_->dataflow;
}

IndexSet Cutter::close(const IndexSet &kept) const {
  std::set<int> closed;
  for (int atom : kept) // ascending: a block's atom comes before the atoms inside
    if (impl_->parent[atom] < 0 || closed.count(impl_->parent[atom]))
      closed.insert(atom);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto &use : impl_->uses) {
      if (use.atom < 0 || !closed.count(use.atom))
        continue;
      const int definer = impl_->defining_atom(use.version);
      if (definer < 0 || closed.count(definer) || impl_->recorded(use.version))
        continue;
      for (int needed = definer; needed >= 0; needed = impl_->parent[needed])
        changed |= closed.insert(needed).second;
    }
  }
  return {closed.begin(), closed.end()};
}

Program Cutter::cut(const IndexSet &kept, bool expose_all) const {
  const IndexSet closed = close(kept);
  std::vector<Version> versions;
  for (const auto &exposed : impl_->exposed(closed, expose_all))
    versions.push_back(exposed.version);
  return CutBuilder(*impl_, closed).build(versions);
}

std::vector<int> Cutter::output_atoms(const IndexSet &kept, bool expose_all) const {
  std::vector<int> atoms;
  for (const auto &exposed : impl_->exposed(close(kept), expose_all))
    atoms.push_back(exposed.atom);
  return atoms;
}

IndexSet Cutter::tensor_atoms() const {
  IndexSet result;
  for (int atom = 0; atom < atoms(); ++atom) {
    const auto outputs = node_of(atom)->outputs();
    if (std::all_of(outputs.begin(), outputs.end(), [](const Value *v) { return is_tensor_like(v->type()); }))
      result.push_back(atom);
  }
  return result;
}

} // namespace repro_minify
