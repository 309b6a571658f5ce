// Builds the Program of a cut: copies the nodes that are kept, and gives it inputs for what they read and none makes.
#pragma once
#include "program/atoms.h"
#include "program/materialise.h"
#include "program/values.h"

#include <cstddef>
#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace repro_minify {

struct HashVersion {
  size_t operator()(const Version &version) const {
    return std::hash<const void *>{}(version.first) + 0x9E3779B9u * static_cast<size_t>(version.second);
  }
};

/// A set of atoms: in order, and as a table.
struct KeptAtoms {
  explicit KeptAtoms(size_t atoms) : member(atoms) {}
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

/// The Program that keeps `kept`. `nodes`: the top-level ones to copy, in order, as indices into the Recording.
/// `exposed`: the values that it returns. `output_of[i]`: the output that shows exposed[i], as what was written to in
/// place shows several versions as one. Throws CannotMaterialise for a value that was not recorded.
Program build_cut(const AtomIndex &index, const OriginalInputs &originals, const KeptAtoms &kept,
                  const std::vector<int> &nodes, const std::vector<Version> &exposed, std::vector<size_t> &output_of);

} // namespace repro_minify
