// Where a value comes from in the source, for a person.
#include "repro/intermediate.h"

#include "program/program_from.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/source_range.h>

#include <memory>
#include <optional>
#include <string>

namespace repro_minify {
namespace {

/// Gives what source_line() says of an operator whose source is `text`, as found in `file`.
std::string line_of(const std::string &text, const std::string &file) {
  const Program program = testing_support::program_from(
      "graph(%x : Tensor):\n  %y : Tensor = aten::neg(%x)\n  return (%y)", {at::ones({2}, at::kFloat)});
  torch::jit::Node *node = *program.graph->nodes().begin();
  node->setSourceRange({std::make_shared<torch::jit::Source>(text, std::optional(file), 7), 0, text.size()});
  return source_line(node);
}

TEST(SourceLine, IsTheFirstOfTheModelsSource) {
  EXPECT_EQ(line_of("  return torch.neg(x)\n", "/home/me/model.py"), "model.py:7: return torch.neg(x)");
}

/// While torch.jit.trace works under a mode, each operator is called from that mode.
TEST(SourceLine, IsTheAuthorsFrameOfATrace) {
  const std::string frames =
      "/home/me/.venv/lib/python3.11/site-packages/torch/_ops.py(875): __call__\n"
      "/home/me/.venv/lib/python3.11/site-packages/repro_minify/tracing.py(108): __torch_function__\n"
      "/home/me/model.py(12): forward\n"
      "/home/me/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py(1787): _call_impl\n";
  EXPECT_EQ(line_of(frames, "/home/me/.venv/lib/python3.11/site-packages/torch/_ops.py"), "model.py:12: forward");
}

TEST(SourceLine, IsThatOfTheListWhereOneIsTakenApart) {
  const Program program = testing_support::program_from(
      "graph(%x : Tensor):\n  %n : int = prim::Constant[value=1]()\n  %d : int = prim::Constant[value=0]()\n"
      "  %l : Tensor[] = aten::split(%x, %n, %d)\n  %a : Tensor, %b : Tensor = prim::ListUnpack(%l)\n"
      "  return (%b)",
      {at::ones({2}, at::kFloat)});
  torch::jit::Value *taken = program.graph->outputs().at(0);
  const std::string text = "a, b = x.split(1)\n";
  taken->node()->setSourceRange({});
  taken->node()->input()->node()->setSourceRange(
      {std::make_shared<torch::jit::Source>(text, std::optional<std::string>("/home/me/model.py"), 7), 0, text.size()});
  EXPECT_EQ(source_line(taken->node()), "model.py:7: a, b = x.split(1)");
}

TEST(SourceLine, IsEmptyWhereNoFrameIsTheAuthors) {
  EXPECT_EQ(line_of("/usr/lib/python3/dist-packages/torch/_ops.py(875): __call__\n<string>(2): forward\n", "_ops.py"),
            "");
}

} // namespace
} // namespace repro_minify
