#include "program/cut.h"

#include "program/atoms.h"
#include "program/flatten.h"
#include "program/materialise.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
using torch::jit::WithInsertPoint;
namespace prim = torch::jit::prim;

struct HashVersion {
  size_t operator()(const Version &version) const {
    return std::hash<const void *>{}(version.first) + 0x9E3779B9u * static_cast<size_t>(version.second);
  }
};

/// A set of atoms: in order, and as a table.
struct Kept {
  explicit Kept(size_t atoms) : member(atoms) {}
  IndexSet atoms;
  std::vector<char> member; ///< by atom
};

/// The inputs of the Program that is cut, as a cut has them. Worked out once: there can be thousands, of which most
/// cuts read a few.
struct OriginalInputs {
  explicit OriginalInputs(const Recording &recording) {
    const auto &original = recording.program;
    for (size_t i = 0; i < original.inputs.size(); ++i) {
      ProgramInput input = original.inputs[i];
      if (const auto *contents = recording.lookup(original.graph->inputs()[i], no_writer))
        input.value = *contents;
      input.name = names.unique(input.name);
      for_each_tensor(input.value, [&](const at::Tensor &tensor) { storages.insert(storage_of(tensor)); });
      inputs.push_back(std::move(input));
    }
  }

  std::vector<ProgramInput> inputs;
  Identifiers names;
  std::unordered_set<void *> storages; ///< memory that they live in
};

/// Builds one cut. `resolve` is the heart: which value of the new graph stands for a version of an old one.
class CutBuilder {
public:
  CutBuilder(const AtomIndex &index, const OriginalInputs &originals, const Kept &kept)
      : index_(index), originals_(originals), kept_(kept), recording_(*index.recording),
        inputs_(program_, &originals.names) {
    program_.graph = std::make_shared<Graph>();
    program_.provenance = recording_.program.provenance;
    current_ = graph().return_node();
  }

  /// `nodes`: the top-level ones to copy, in order, as indices into the Recording.
  /// `output_of[i]`: the output that shows exposed[i]. What was written to in place shows several versions as one.
  Program build(const std::vector<int> &nodes, const std::vector<Version> &exposed, std::vector<size_t> &output_of) {
    for (int node : nodes)
      copy_node(recording_.nodes[node], graph().block());
    std::unordered_map<const Value *, size_t> outputs;
    current_ = graph().return_node();
    for (const Version &version : exposed) {
      Value *value = resolve(version);
      const auto [output, is_new] = outputs.emplace(value, outputs.size());
      if (is_new)
        graph().registerOutput(value);
      output_of.push_back(output->second);
    }
    order_inputs();
    drop_unused(program_);
    return std::move(program_);
  }

private:
  Graph &graph() { return *program_.graph; }
  bool keeps(int atom) const { return atom >= 0 && kept_.member[atom]; }

  bool is_original_input(const Value *value) const { return value->node() == recording_.program.graph->param_node(); }

  Value *add_original_input(size_t position) {
    Value *added = inputs_.add_input(originals_.inputs[position]);
    positions_[added] = position;
    return added;
  }

  /// Those of the original signature first, in its order.
  void order_inputs() {
    const auto position_of = [&](size_t i) {
      const auto found = positions_.find(graph().inputs()[i]);
      return found == positions_.end() ? originals_.inputs.size() : found->second;
    };
    std::vector<size_t> order(program_.inputs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return position_of(a) < position_of(b); });
    std::vector<ProgramInput> inputs;
    for (size_t i : order)
      inputs.push_back(std::move(program_.inputs[i]));
    program_.inputs = std::move(inputs);
    graph().block()->permuteInputs(order);
  }

  Value *resolve(const Version &version) {
    const auto known = values_.find(version);
    if (known != values_.end())
      return known->second;
    const auto produced = version.second == no_writer ? produced_.find(version.first) : produced_.end();
    Value *result;
    if (produced != produced_.end())
      result = produced->second;
    else if (version.second == no_writer && is_original_input(version.first))
      result = add_original_input(version.first->offset());
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
    WithInsertPoint guard(current_);
    return graph()
        .insertNode(graph().createClone(const_cast<Node *>(value->node()), [](Value *v) { return v; }))
        ->output();
  }

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

  /// Makes an input or a constant of what the eager run recorded. A version that was never read is taken as the nearest
  /// earlier one that was.
  Value *cut_value(const Version &version) {
    int writer = version.second;
    const c10::IValue *contents = recording_.lookup(version.first, writer);
    while (!contents && writer != no_writer) {
      writer = recording_.writer_before(version.first, writer);
      contents = recording_.lookup(version.first, writer);
    }
    if (!contents)
      throw CannotMaterialise("value %" + version.first->debugName() + " was not recorded");
    WithInsertPoint guard(current_);
    return inputs_.materialise(unshared(*contents), version.first->type(), role_of(version.first),
                               name_of(version.first));
  }

  /// A cut value gets memory of its own. In the original run it may have shared another's, but a repro loads or clones
  /// its inputs one by one, and a failure that needs two inputs to overlap would be gone.
  c10::IValue unshared(const c10::IValue &value) {
    bool shared = false;
    for_each_tensor(value, [&](const at::Tensor &tensor) {
      void *storage = storage_of(tensor);
      shared |= originals_.storages.count(storage) > 0 || !storages_.insert(storage).second;
    });
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

  /// Packing inside a block is copied where it stands, whatever needs it later; unused, it is removed at the end.
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
  const OriginalInputs &originals_;
  const Kept &kept_;
  const Recording &recording_;
  Program program_;
  InputBuilder inputs_;
  std::unordered_map<Version, Value *, HashVersion> values_;
  std::unordered_map<const Value *, Value *> produced_;
  std::unordered_map<const Value *, size_t> positions_; ///< of new inputs that are original ones, in the signature
  std::set<void *> storages_;                           ///< memory that other inputs of the new Program live in
  /// The top-level position that is being filled. Constants, packing and cut values go in front of it: nothing reads
  /// them earlier. (All in front of the first node would be as good, but a graph makes room for a node between two
  /// others by numbering all of them anew.)
  Node *current_;
};

} // namespace

/// Tables that a cut looks up, worked out once: a cut then costs what it keeps, not what there is.
struct Cutter::Impl : AtomIndex {
  explicit Impl(std::shared_ptr<const Recording> given) : AtomIndex(std::move(given)), originals(*recording) {
    index_nodes();
    index_uses();
    for (const auto &output : outputs)
      output_exposures.push_back(exposure_of(output));
  }

  struct Exposure {
    Version version;
    int atom = -1;               ///< that made or last wrote to it
    int version_id = -1;         ///< two with the same one are the same version
    const Node *owner = nullptr; ///< the top-level node in whose blocks it is made; null: outside of any
    bool tensor = false;
  };

  OriginalInputs originals;
  std::vector<std::vector<int>> nodes_of_atom;  ///< top-level nodes: the atom's own and what unpacks it
  std::vector<std::vector<int>> inseparable;    ///< by atom: atoms whose values it reads and that cannot be cut off
  std::vector<std::vector<int>> uses_of_values; ///< by atom: uses (indices) of what it made or wrote to
  std::vector<Exposure> use_exposures;          ///< by use
  std::vector<Exposure> output_exposures;       ///< by output of the graph
  std::vector<char> reads_data;                 ///< by atom

  Kept close(const IndexSet &kept) const {
    Kept closed(atom_nodes.size());
    const auto add = [&](int atom) {
      if (!closed.member[atom])
        closed.atoms.push_back(atom);
      closed.member[atom] = 1;
    };
    for (int atom : kept) // ascending: a block's atom comes before the atoms inside
      if (parent[atom] < 0 || closed.member[parent[atom]])
        add(atom);
    for (size_t i = 0; i < closed.atoms.size(); ++i)
      for (int maker : inseparable[closed.atoms[i]])
        for (int needed = maker; needed >= 0; needed = parent[needed])
          add(needed);
    std::sort(closed.atoms.begin(), closed.atoms.end());
    return closed;
  }

  /// Returns what a cut at `kept` shows to the outside: all its tensors first if `all`, then original outputs, then
  /// what is read outside of it.
  std::vector<Exposure> exposed(const Kept &kept, bool all) const {
    std::vector<Exposure> result;
    std::vector<char> done(version_ids_.size());
    const auto add = [&](const Exposure &exposure) {
      if (exposure.atom < 0 || !kept.member[exposure.atom] || done[exposure.version_id])
        return;
      done[exposure.version_id] = 1;
      result.push_back(exposure);
    };
    const auto add_tensors_of = [&](const Node *node) {
      for (const Value *output : node->outputs())
        if (const Exposure exposure = exposure_of({output, no_writer}); exposure.tensor && !exposure.owner)
          add(exposure);
    };
    if (all) // in their order, as an analysis returns them: what has compiled the one has compiled the other
      for (int atom : kept.atoms)
        add_tensors_of(atom_nodes[atom]);
    for (const auto &output : output_exposures)
      if (!is_packing(output.version.first->node()) || output.version.second != no_writer)
        add(output);
    for (int use : read_outside(kept)) {
      if (!use_exposures[use].owner)
        add(use_exposures[use]);
      else // A value made inside a block cannot be returned from outside it: what the block makes of it is.
        add_tensors_of(use_exposures[use].owner);
    }
    return result;
  }

  std::vector<int> top_level_nodes(const Kept &kept) const {
    std::vector<int> nodes;
    for (int atom : kept.atoms)
      nodes.insert(nodes.end(), nodes_of_atom[atom].begin(), nodes_of_atom[atom].end());
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

private:
  void index_nodes() {
    nodes_of_atom.resize(atom_nodes.size());
    for (size_t i = 0; i < recording->nodes.size(); ++i)
      if (atom_of_node[i] >= 0 && !is_nested(recording->nodes[i]))
        nodes_of_atom[atom_of_node[i]].push_back(static_cast<int>(i));
    for (const Node *node : atom_nodes)
      reads_data.push_back(makes_tensors(node));
    for (const Node *node : atom_nodes)
      for (const Value *output : node->outputs())
        number({output, no_writer});
  }

  void index_uses() {
    inseparable.resize(atom_nodes.size());
    uses_of_values.resize(atom_nodes.size());
    for (size_t i = 0; i < uses.size(); ++i) {
      number(uses[i].version);
      use_exposures.push_back(exposure_of(uses[i].version));
      const int maker = use_exposures.back().atom;
      if (maker < 0)
        continue;
      uses_of_values[maker].push_back(static_cast<int>(i));
      if (uses[i].atom >= 0 && !recorded(uses[i].version))
        inseparable[uses[i].atom].push_back(maker);
    }
    for (const auto &output : outputs)
      number(output);
  }

  /// Uses of what is made inside by the graph's outputs or by what is removed, in the order of the readers.
  std::vector<int> read_outside(const Kept &kept) const {
    std::vector<int> result;
    for (int atom : kept.atoms)
      for (int use : uses_of_values[atom]) {
        const int reader = uses[use].atom;
        const bool visible = use_exposures[use].tensor || use_exposures[use].owner;
        if (visible && (reader < 0 || (!kept.member[reader] && reads_data[reader])))
          result.push_back(use);
      }
    std::sort(result.begin(), result.end());
    return result;
  }

  void number(const Version &version) { version_ids_.emplace(version, static_cast<int>(version_ids_.size())); }

  Exposure exposure_of(const Version &version) const {
    return {version, defining_atom(version), version_ids_.at(version), owner_of(version.first),
            is_tensor_like(version.first->type())};
  }

  const Node *owner_of(const Value *value) const {
    const Node *owner = nullptr;
    for (const Block *block = value->node()->owningBlock(); block != recording->program.graph->block();
         block = owner->owningBlock())
      owner = block->owningNode();
    return owner;
  }

  bool is_nested(const Node *node) const { return node->owningBlock() != recording->program.graph->block(); }

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
  static bool makes_tensors(const Node *node) {
    const auto made = node->outputs();
    return made.empty() ||
           std::any_of(made.begin(), made.end(), [](const Value *value) { return is_tensor_like(value->type()); });
  }

  std::unordered_map<Version, int, HashVersion> version_ids_;
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
  return impl_->close(kept).atoms;
}

Program Cutter::cut(const IndexSet &kept, bool expose_all) const {
  std::vector<int> ignored;
  return cut(kept, expose_all, ignored);
}

Program Cutter::cut(const IndexSet &kept, bool expose_all, std::vector<int> &output_atoms) const {
  const Kept closed = impl_->close(kept);
  const auto exposed = impl_->exposed(closed, expose_all);
  std::vector<Version> versions;
  for (const auto &exposure : exposed)
    versions.push_back(exposure.version);
  std::vector<size_t> output_of;
  Program program =
      CutBuilder(*impl_, impl_->originals, closed).build(impl_->top_level_nodes(closed), versions, output_of);
  output_atoms.assign(program.graph->outputs().size(), -1);
  for (size_t i = 0; i < exposed.size(); ++i) // the last to write is what an output shows
    output_atoms[output_of[i]] = std::max(output_atoms[output_of[i]], exposed[i].atom);
  return program;
}

IndexSet Cutter::every_atom() const {
  IndexSet result(static_cast<size_t>(atoms()));
  std::iota(result.begin(), result.end(), 0);
  return result;
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
