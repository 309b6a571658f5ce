// Duplicates: two nodes that do the same to the same values become one, whole subgraphs at a time, for what is equal
// makes equal what reads it. Constants and packing go along; for their sake alone nothing is asked.
#include "program/atoms.h"
#include "program/surgery.h"
#include "reduce/passes/edit_constants.h"
#include "reduce/passes/pass.h"

#include <torch/csrc/jit/ir/node_hashing.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace repro_minify {
namespace {

/// A node and an earlier one that says the same.
struct Duplicate {
  const Node *node;
  const Node *first;
};

/// Finds the duplicates of a graph of its own, merging them there: that is how equality spreads to readers.
class DuplicateFinder {
public:
  explicit DuplicateFinder(const Program &program) : graph_(program.graph->copy()) {
    const auto nodes = all_nodes(*graph_), originals = all_nodes(*program.graph);
    for (size_t i = 0; i < nodes.size(); ++i) {
      original_[nodes[i]] = originals[i];
      note_writes(nodes[i]);
    }
    find_in(graph_->block(), nullptr);
  }

  std::vector<Duplicate> found() && { return std::move(found_); }

private:
  /// The nodes that can be read in a block: those that it has so far, and those of the blocks around it.
  struct Scope {
    std::unordered_set<Node *, torch::jit::HashNode, torch::jit::EqualNode> nodes;
    const Scope *around;
  };

  void note_writes(const Node *node) {
    const auto *schema = node->maybeSchema();
    for (size_t i = 0;
         schema && schema->is_mutable() && i < std::min(schema->arguments().size(), node->inputs().size()); ++i)
      if (schema->is_mutable({c10::SchemaArgType::input, i}))
        written_.insert(node->input(i));
  }

  bool can_be_merged(const Node *node) const {
    const auto written = [&](const Value *value) { return written_.count(value) > 0; };
    return node->blocks().empty() && !node->outputs().empty() && !has_effects(node) &&
           std::none_of(node->outputs().begin(), node->outputs().end(), written) &&
           std::none_of(node->inputs().begin(), node->inputs().end(), written);
  }

  static Node *find(const Scope *scope, Node *node) {
    for (; scope; scope = scope->around)
      if (const auto same = scope->nodes.find(node); same != scope->nodes.end())
        return *same;
    return nullptr;
  }

  void find_in(Block *block, const Scope *around) {
    Scope scope{{}, around};
    for (Node *node : block->nodes()) {
      for (Block *inner : node->blocks())
        find_in(inner, &scope);
      if (!can_be_merged(node))
        continue;
      if (Node *first = find(&scope, node)) {
        found_.push_back({original_.at(node), original_.at(first)});
        for (size_t i = 0; i < node->outputs().size(); ++i)
          node->output(i)->replaceAllUsesWith(first->output(i));
      } else {
        scope.nodes.insert(node);
      }
    }
  }

  std::shared_ptr<Graph> graph_;
  std::unordered_map<const Node *, const Node *> original_;
  std::unordered_set<const Value *> written_;
  std::vector<Duplicate> found_;
};

Program merged(const Program &program, const std::vector<Duplicate> &duplicates) {
  return edited(program, [&](EditableCopy &copy) {
    for (const auto &duplicate : duplicates) {
      const auto outputs = copy.of(duplicate.first)->outputs();
      replace_node(copy.of(duplicate.node), {outputs.begin(), outputs.end()});
    }
  });
}

} // namespace

void merge_duplicates(PassContext &context) {
  const Program start = context.current;
  std::vector<Duplicate> duplicates = DuplicateFinder(start).found();
  const auto packing = std::stable_partition(duplicates.begin(), duplicates.end(),
                                             [&](const auto &found) { return !is_packing(found.node); });
  accept_in_bulk(context, packing - duplicates.begin(), [&](const std::vector<size_t> &which) {
    std::vector<Duplicate> chosen(packing, duplicates.end());
    for (size_t i : which)
      chosen.push_back(duplicates[i]);
    return merged(start, chosen);
  });
}

} // namespace repro_minify
