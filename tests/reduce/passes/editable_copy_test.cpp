// Tests that the nodes and values of a program are found again in its copy, inside of blocks too.
#include "reduce/passes/edit_constants.h"

#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

Program nested() {
  return program_from(R"(graph(%x : Tensor, %n : int):
  %true : bool = prim::Constant[value=1]()
  %y : Tensor = aten::relu(%x)
  %z : Tensor = prim::Loop(%n, %true, %y)
    block0(%i : int, %carried : Tensor):
      %inner : Tensor = aten::neg(%carried)
      -> (%true, %inner)
  return (%z))",
                      {});
}

TEST(EditableCopy, HasACounterpartOfEverything) {
  const Program original = nested();
  const EditableCopy copy(original);
  const auto nodes = all_nodes(*original.graph), copies = all_nodes(*copy.program.graph);
  ASSERT_EQ(nodes.size(), copies.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(copy.of(nodes[i]), copies[i]);
    for (const auto *input : nodes[i]->inputs())
      EXPECT_EQ(copy.of(input)->debugName(), input->debugName());
    for (const auto *block : nodes[i]->blocks()) {
      EXPECT_EQ(copy.of(block->inputs()[1]), copies[i]->blocks()[0]->inputs()[1]);
      EXPECT_EQ(copy.of(block->return_node()), copies[i]->blocks()[0]->return_node());
    }
  }
}

TEST(EditableCopy, LeavesTheOriginalAlone) {
  const Program original = nested();
  const std::string before = original.graph->toString(false);
  const auto *loop = all_nodes(*original.graph)[2];
  EditableCopy copy(original);
  copy.of(loop->output())->replaceAllUsesWith(copy.of(loop->input(2)));
  copy.of(loop)->destroy();
  EXPECT_EQ(original.graph->toString(false), before);
  EXPECT_EQ(count(copy.program, "prim::Loop"), 0);
}

} // namespace
} // namespace repro_minify
