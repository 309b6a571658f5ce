#include "program/cut.h"

#include "program/atoms.h"
#include "program/cut_builder.h"
#include "program/values.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace repro_minify {

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

  KeptAtoms close(const IndexSet &kept) const {
    KeptAtoms closed(atom_nodes.size());
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
  std::vector<Exposure> exposed(const KeptAtoms &kept, bool all) const {
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

  std::vector<int> top_level_nodes(const KeptAtoms &kept) const {
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
  std::vector<int> read_outside(const KeptAtoms &kept) const {
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
  const KeptAtoms closed = impl_->close(kept);
  const auto exposed = impl_->exposed(closed, expose_all);
  std::vector<Version> versions;
  for (const auto &exposure : exposed)
    versions.push_back(exposure.version);
  std::vector<size_t> output_of;
  Program program = build_cut(*impl_, impl_->originals, closed, impl_->top_level_nodes(closed), versions, output_of);
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
