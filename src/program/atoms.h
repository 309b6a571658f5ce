// Who reads which version of which value: the index that cutting works on.
#pragma once
#include "core/dataflow.h"
#include "repro_minify/record.h"

#include <memory>
#include <utility>
#include <vector>

namespace repro_minify {

/// A value as one of its readers sees it: written to last by node `second` (an index into Recording::nodes), or as
/// produced.
using Version = std::pair<const torch::jit::Value *, int>;

/// Constants, and nodes that only pack values: they come and go with their readers.
bool is_packing(const torch::jit::Node *node);
/// Takes a list or a tuple apart.
bool is_unpacking(const torch::jit::Node *node);
/// Tensors, and lists, tuples and optionals that hold some.
bool is_tensor_like(const c10::TypePtr &type);

struct AtomIndex {
  explicit AtomIndex(std::shared_ptr<const Recording> recording);

  struct Use {
    int atom; ///< the reader, or -1 for the graph's outputs
    Version version;
  };

  std::shared_ptr<const Recording> recording;
  std::vector<torch::jit::Node *> atom_nodes;
  std::vector<int> atom_of_node; ///< by node index; -1 for packing; unpacking belongs to what it unpacks
  std::vector<int> parent;       ///< by atom: the atom whose block it is in, or -1
  std::vector<Use> uses;         ///< packing is read through
  std::vector<Version> outputs;
  std::unique_ptr<Dataflow> dataflow;

  /// Returns the version of `value` that a reader at node index `reader` (nodes.size(): the outputs) sees.
  Version version_at(const torch::jit::Value *value, int reader) const;
  /// The atom that made or last wrote to this version; -1 for a graph input as given.
  int defining_atom(const Version &version) const;

private:
  void find_atoms();
  void find_uses();
  void add_uses(int atom, const torch::jit::Value *value, int reader);
  void build_dataflow();
  bool is_block_input(const torch::jit::Value *value) const;

  std::vector<int> top_level_; ///< by node index: the top-level node it is or is inside of
};

} // namespace repro_minify
