#include "program/path.h"

#include <algorithm>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Node;

/// Deals the decisions of a run out to the nodes that they were made at.
class PathWalk {
public:
  explicit PathWalk(const Recording &recording) : recording_(recording), path_(recording.nodes.size()) {}

  void follow(const Block *block) {
    for (const Node *node : block->nodes())
      if (node->kind() == torch::jit::prim::If)
        follow(node->blocks()[decide(node) ? 0 : 1]);
      else if (node->kind() == torch::jit::prim::Loop)
        for (int64_t trips = decide(node); trips > 0; --trips)
          follow(node->blocks()[0]);
  }

  std::vector<std::vector<int64_t>> path() { return std::move(path_); }

private:
  int64_t decide(const Node *node) {
    const int64_t decision = recording_.decisions.at(next_++);
    path_[recording_.node_index.at(node)].push_back(decision);
    return decision;
  }

  const Recording &recording_;
  std::vector<std::vector<int64_t>> path_;
  size_t next_ = 0;
};

} // namespace

std::vector<std::vector<int64_t>> path_of(const Recording &recording) {
  PathWalk walk(recording);
  walk.follow(recording.program.graph->block());
  return walk.path();
}

Block *only_block_taken(const Node *node, const std::vector<int64_t> &decisions) {
  const auto differs = [&](int64_t decision) { return decision != decisions.front(); };
  if (decisions.empty() || std::any_of(decisions.begin(), decisions.end(), differs))
    return nullptr;
  return const_cast<Block *>(node->blocks()[decisions.front() ? 0 : 1]);
}

} // namespace repro_minify
