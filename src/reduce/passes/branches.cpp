// Branches: a prim::If becomes the branch that the eager run took. All of them go at once first, then halves of them:
// where the failure needs one, the others can still go.
#include "program/surgery.h"
#include "reduce/passes/edit_constants.h"
#include "reduce/passes/pass.h"

namespace repro_minify {
namespace {

/// A prim::If that always went the same way, and the block taken.
struct Branch {
  const Node *node;
  size_t taken;
};

/// Returns every prim::If that always went the same way, inner ones after those around them.
std::vector<Branch> single_minded(const Recording &recording) {
  std::vector<Branch> branches;
  const auto path = path_of(recording);
  for (size_t i = 0; i < recording.nodes.size(); ++i) {
    const Node *node = recording.nodes[i];
    if (node->kind() == prim::If)
      if (const Block *taken = only_block_taken(node, path[i]))
        branches.push_back({node, taken == node->blocks()[0] ? size_t{0} : size_t{1}});
  }
  return branches;
}

/// Returns the program with these branches in place. Works from the innermost out, as an outer block is pasted with
/// what has become of those in it.
Program straightened(const Program &program, const std::vector<Branch> &branches, const std::vector<size_t> &which) {
  return edited(program, [&](EditableCopy &copy) {
    for (size_t i = which.size(); i-- > 0;) {
      const auto &branch = branches[which[i]];
      Node *node = copy.of(branch.node);
      auto *condition = node->input();
      replace_node(node, paste_block(node->blocks()[branch.taken], node, {}));
      drop_unread({condition});
    }
    unpack_outputs(*copy.program.graph);
  });
}

} // namespace

void straighten_branches(PassContext &context) {
  if (!any_node(context.current.graph->block(), [](const Node *node) { return node->kind() == prim::If; }))
    return;
  const Program start = context.current;
  const auto recording = context.record();
  if (!recording)
    return;
  const auto branches = single_minded(*recording);
  accept_in_bulk(context, branches.size(),
                 [&](const std::vector<size_t> &which) { return straightened(start, branches, which); });
}

} // namespace repro_minify
