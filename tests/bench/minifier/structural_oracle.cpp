#include "structural_oracle.h"

#include <algorithm>
#include <unordered_set>

namespace repro_minify::bench {
namespace {

using torch::jit::Node;
using torch::jit::Value;

/// The nodes that these values depend on. (The programs here are flat: no node has blocks.)
std::unordered_set<const Node *> makers_of(at::ArrayRef<const Value *> values) {
  std::unordered_set<const Node *> seen;
  std::vector<const Node *> open;
  for (const Value *value : values)
    open.push_back(value->node());
  while (!open.empty()) {
    const Node *node = open.back();
    open.pop_back();
    if (!seen.insert(node).second)
      continue;
    for (const Value *input : node->inputs())
      open.push_back(input->node());
  }
  return seen;
}

template <typename Nodes> bool has_enough(const Nodes &nodes, c10::Symbol kind, int least) {
  return std::count_if(nodes.begin(), nodes.end(), [&](const Node *node) { return node->kind() == kind; }) >= least;
}

bool depends_on(const Node *node, c10::Symbol kind) {
  const auto makers = makers_of(node->inputs());
  return std::any_of(makers.begin(), makers.end(), [&](const Node *maker) { return maker->kind() == kind; });
}

} // namespace

bool StructuralOracle::fails(const Program &program) const {
  const auto &graph = static_cast<const torch::jit::Graph &>(*program.graph);
  if (kind == Kind::Count)
    return std::all_of(operators.begin(), operators.end(),
                       [&](c10::Symbol symbol) { return has_enough(graph.nodes(), symbol, least); });
  const auto live = makers_of(graph.outputs());
  if (kind == Kind::Live)
    return std::all_of(operators.begin(), operators.end(),
                       [&](c10::Symbol symbol) { return has_enough(live, symbol, least); });
  return std::any_of(live.begin(), live.end(), [&](const Node *node) {
    return node->kind() == operators.at(1) && depends_on(node, operators.at(0));
  });
}

StructuralOracle::Kind kind_from(const std::string &word) {
  if (word == "count")
    return StructuralOracle::Kind::Count;
  if (word == "live")
    return StructuralOracle::Kind::Live;
  if (word == "path")
    return StructuralOracle::Kind::Path;
  throw std::invalid_argument("no such oracle: " + word);
}

} // namespace repro_minify::bench
