// Copies: clone, contiguous, detach, and dropout that does nothing, all gone at once. Networks are full of them, and
// few failures need any. docs/writing-a-pass.md explains this file line by line.
#include "reduce/passes/pass.h"

#include <algorithm>
#include <set>

namespace repro_minify {
namespace {

bool only_copies(const Node *node) {
  static const std::set<c10::Symbol> kinds = {
      c10::Symbol::fromQualString("aten::clone"), c10::Symbol::fromQualString("aten::contiguous"),
      c10::Symbol::fromQualString("aten::detach"), c10::Symbol::fromQualString("aten::dropout")};
  return kinds.count(node->kind()) > 0;
}

Program without_copies(const Program &program) {
  Program result = copy_of(program);
  for (auto *node : all_nodes(*result.graph))
    if (only_copies(node)) {
      node->output()->replaceAllUsesWith(node->input(0));
      node->destroy();
    }
  drop_unused(result);
  return result;
}

} // namespace

void drop_copies(PassContext &context) {
  const auto nodes = all_nodes(*context.current.graph);
  if (std::any_of(nodes.begin(), nodes.end(), only_copies))
    context.try_candidate(without_copies(context.current));
}

} // namespace repro_minify
