#include "program/any_node.h"

#include <algorithm>

namespace repro_minify {

bool any_node(const torch::jit::Block *block, const std::function<bool(const torch::jit::Node *)> &is) {
  return std::any_of(block->nodes().begin(), block->nodes().end(), [&](const torch::jit::Node *node) {
    return is(node) || std::any_of(node->blocks().begin(), node->blocks().end(),
                                   [&](const torch::jit::Block *inner) { return any_node(inner, is); });
  });
}

bool writes(const torch::jit::Node *node) {
  const auto *schema = node->maybeSchema();
  return schema && schema->is_mutable();
}

bool writes_to_something(const torch::jit::Graph &graph) {
  return any_node(graph.block(), writes);
}

bool draws_random_numbers(const torch::jit::Graph &graph) {
  return any_node(graph.block(), [](const torch::jit::Node *node) { return node->isNondeterministic(); });
}

} // namespace repro_minify
