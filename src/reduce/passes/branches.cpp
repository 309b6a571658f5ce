// Branches: a prim::If becomes the branch that the eager run took. All of them at once first: where the failure needs
// one, the others can still go.
#include "program/surgery.h"
#include "reduce/passes/edit_constants.h"
#include "reduce/passes/in_bulk.h"

#include <algorithm>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Node;

/// A prim::If that always went the same way, and the block taken.
struct Branch {
  const Node *node;
  size_t taken;
};

/// Inner ones last.
std::vector<Branch> single_minded(const Recording &recording) {
  std::vector<Branch> branches;
  const auto path = path_of(recording);
  for (size_t i = 0; i < recording.nodes.size(); ++i) {
    const Node *node = recording.nodes[i];
    if (node->kind() == torch::jit::prim::If)
      if (const Block *taken = only_block_taken(node, path[i]))
        branches.push_back({node, taken == node->blocks()[0] ? size_t{0} : size_t{1}});
  }
  return branches;
}

/// Innermost first: an outer one is then pasted with what has become of those in it.
Program straightened(const Program &program, const std::vector<Branch> &branches, const std::vector<size_t> &which) {
  EditableCopy copy(program);
  for (size_t i = which.size(); i-- > 0;) {
    const auto &branch = branches[which[i]];
    Node *node = copy.of(branch.node);
    auto *condition = node->input();
    replace_node(node, paste_block(node->blocks()[branch.taken], node, {}));
    drop_unread({condition});
  }
  unpack_outputs(*copy.program.graph);
  drop_unused(copy.program);
  return std::move(copy.program);
}

} // namespace

bool straighten_branches(PassContext &context) {
  const auto nodes = all_nodes(*context.current.graph);
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node *node) { return node->kind() == torch::jit::prim::If; }))
    return false;
  const Program start = context.current;
  const auto recording = context.record();
  if (!recording)
    return false;
  const auto branches = single_minded(*recording);
  return accept_in_bulk(context, branches.size(),
                        [&](const std::vector<size_t> &which) { return straightened(start, branches, which); });
}

} // namespace repro_minify
