// A loop that carries one value less.
#include "reduce/passes/editable_copy.h"
#include "reduce/passes/single_edits.h"

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

/// The loop's carried value number `carried` left as it was before the loop.
Program without_carried(const Program &program, const Node *original, size_t carried) {
  EditableCopy copy(program);
  Node *loop = copy.of(original);
  Block *body = loop->blocks()[0];
  Value *before = loop->input(carried + 2);
  body->inputs()[carried + 1]->replaceAllUsesWith(before);
  loop->output(carried)->replaceAllUsesWith(before);
  body->eraseOutput(carried + 1);
  body->eraseInput(carried + 1);
  loop->eraseOutput(carried);
  loop->removeInput(carried + 2);
  drop_unused(copy.program);
  return std::move(copy.program);
}

} // namespace

std::vector<LazyProgram> loop_edits(const Program &program, const Node *loop) {
  std::vector<LazyProgram> candidates;
  if (loop->kind() == torch::jit::prim::Loop)
    for (size_t carried = 0; carried < loop->outputs().size(); ++carried)
      candidates.push_back([&program, loop, carried] { return without_carried(program, loop, carried); });
  return candidates;
}

} // namespace repro_minify
