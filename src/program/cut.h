// Invariant 1: any set of nodes is a valid Program. What a kept node reads and no kept node makes comes back as an
// input that holds what the eager run recorded.
#pragma once
#include "core/dataflow.h"
#include "repro_minify/record.h"

#include <memory>
#include <vector>

namespace repro_minify {

/// The units the search keeps or removes: every node but constants and packing, which come and go with their readers,
/// and unpacking, which goes with what it unpacks. Nodes inside a kept prim::If or prim::Loop are atoms of their own.
class Cutter {
public:
  /// Keeps the Recording for as long as it lives.
  explicit Cutter(std::shared_ptr<const Recording> recording);
  ~Cutter();

  int atoms() const;
  IndexSet every_atom() const;
  const torch::jit::Node *node_of(int atom) const;
  /// One edge from the atom that made (or last wrote to) a value to each atom that reads it.
  const Dataflow &dataflow() const;

  /// The set that a cut at `kept` really keeps: an atom inside a removed block goes, what makes a value that cannot be
  /// recorded comes back.
  IndexSet close(const IndexSet &kept) const;

  /// The Program on close(kept). Its outputs are the original outputs that are still made, and every tensor that a
  /// removed node would have read: whatever goes wrong inside is seen from outside. With `expose_all`, every tensor
  /// made.
  Program cut(const IndexSet &kept, bool expose_all = false) const;

  /// The same, with the atom that made (or last wrote to) each of its outputs.
  Program cut(const IndexSet &kept, bool expose_all, std::vector<int> &output_atoms) const;

  /// Atoms all of whose outputs are tensors (or lists of them): the arithmetic, without the bookkeeping of shapes.
  IndexSet tensor_atoms() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace repro_minify
