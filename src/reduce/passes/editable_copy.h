// A copy of a Program whose graph can be changed, and in it what was found in the original: a pass looks for what can
// be done once, and each candidate is an edit of that.
#pragma once
#include "reduce/passes/pass.h"

#include <unordered_map>

namespace repro_minify {

class EditableCopy {
public:
  explicit EditableCopy(const Program &original) : program(copy_of(original)) {
    pair(original.graph->block(), program.graph->block());
  }

  /// The counterpart of what is in the original's graph; not to be asked for what was removed here.
  torch::jit::Node *of(const torch::jit::Node *node) const { return nodes_.at(node); }
  torch::jit::Value *of(const torch::jit::Value *value) const { return of(value->node())->output(value->offset()); }

  Program program;

private:
  void pair(const torch::jit::Block *original, torch::jit::Block *copy) {
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

  std::unordered_map<const torch::jit::Node *, torch::jit::Node *> nodes_;
};

} // namespace repro_minify
