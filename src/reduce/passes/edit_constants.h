// A copy of a Program whose graph can be changed, and in it what was found in the original: a pass looks for what can
// be done once, and each candidate is an edit of that.
#pragma once

#include "reduce/passes/pass.h"
#include "repro_minify/program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace repro_minify {

class EditableCopy {
public:
  explicit EditableCopy(const Program &original) : program(copy_of(original)) {
    pair(original.graph->block(), program.graph->block());
  }

  /// The counterpart of what is in the original's graph; not to be asked for what was removed here.
  Node *of(const Node *node) const { return nodes_.at(node); }
  Value *of(const Value *value) const { return of(value->node())->output(value->offset()); }

  Program program;

private:
  void pair(const Block *original, Block *copy) {
    nodes_.emplace(original->param_node(), copy->param_node());
    nodes_.emplace(original->return_node(), copy->return_node());
    auto same = copy->nodes().begin();
    for (const auto *node : original->nodes()) {
      nodes_.emplace(node, *same);
      for (size_t i = 0; i < node->blocks().size(); ++i)
        pair(node->blocks()[i], same->blocks()[i]);
      ++same;
    }
  }

  std::unordered_map<const Node *, Node *> nodes_;
};

/// Returns a copy of `original` that `edit` has changed, without what is then not used.
template <typename Edit> Program edited(const Program &original, const Edit &edit) {
  EditableCopy copy(original);
  edit(copy);
  drop_unused(copy.program);
  return std::move(copy.program);
}

// Changes of constants that a graph's nodes read, without more nodes than there were where that can be.

/// A new value for an argument of a node of the Program in which the edit was found.
struct ArgumentEdit {
  const Node *node;
  std::size_t argument;
  c10::IValue value;
};

/// The Program with all of `edits`, which were found in it. Each argument reads a constant that is there already and
/// can be read from its node, else a new one in front of it; what is no longer read is gone.
Program with_arguments(const Program &program, const std::vector<ArgumentEdit> &edits);

// Numbers in a graph that say how large something is: they have to follow when the inputs get smaller.

/// Maps each size to the one that it becomes.
using SizeMap = std::map<std::int64_t, std::int64_t>;

/// True if argument `i` of the node, or what is made of it, says how large something is.
bool is_size(const Node *node, std::size_t i);

/// The sizes that a graph's constants name (aten::zeros([12, 12]), aten::view(x, [-1, 32])), 1 and less left out.
std::set<std::int64_t> sizes_in_graph(const Program &program);

/// Returns what `size` becomes: by the map, or as a product of two or three `sizes` of which the map has one. Nothing
/// where neither is so. Each factor of the product that the map has follows it, as all dimensions of a size shrink;
/// without `all_factors` one does.
std::optional<std::int64_t> mapped_size(std::int64_t size, const SizeMap &map, const std::set<std::int64_t> &sizes,
                                        bool all_factors = true);

/// Size arguments and trip counts follow the map; an index stays within what is left. Nothing when nothing changes.
std::optional<Program> with_size_constants(const Program &program, const SizeMap &map,
                                           const std::set<std::int64_t> &sizes, bool all_factors);

} // namespace repro_minify
