// Branches: a prim::If becomes the branch that the eager run took. All of them at once first: where the failure needs
// one, the others can still go.
#include "program/path.h"
#include "program/surgery.h"
#include "reduce/passes/in_bulk.h"

#include <algorithm>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Node;

/// prim::If nodes that always went the same way: index (depth first) and the block taken, inner ones last.
struct Branch {
  size_t node;
  size_t taken;
};

std::vector<Branch> single_minded(const Recording &recording) {
  std::vector<Branch> branches;
  const auto path = path_of(recording);
  for (size_t i = 0; i < recording.nodes.size(); ++i) {
    const Node *node = recording.nodes[i];
    if (node->kind() == torch::jit::prim::If)
      if (const Block *taken = only_block_taken(node, path[i]))
        branches.push_back({i, taken == node->blocks()[0] ? size_t{0} : size_t{1}});
  }
  return branches;
}

/// Innermost first: an outer one is then pasted with what has become of those in it.
Program straightened(const Program &program, const std::vector<Branch> &branches, const std::vector<size_t> &which) {
  Program result = copy_of(program);
  const auto nodes = all_nodes(*result.graph);
  for (size_t i = which.size(); i-- > 0;) {
    Node *node = nodes[branches[which[i]].node];
    auto *condition = node->input();
    replace_node(node, paste_block(node->blocks()[branches[which[i]].taken], node, {}));
    drop_unread({condition});
  }
  unpack_outputs(*result.graph);
  drop_unused(result);
  return result;
}

} // namespace

bool straighten_branches(PassContext &context) {
  const auto nodes = all_nodes(*context.current.graph);
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node *node) { return node->kind() == torch::jit::prim::If; }))
    return false;
  const Program start = context.current;
  const auto recording = recording_of(context);
  if (!recording)
    return false;
  const auto branches = single_minded(*recording);
  return accept_in_bulk(context, branches.size(),
                        [&](const std::vector<size_t> &which) { return straightened(start, branches, which); });
}

} // namespace repro_minify
