#include "repro/code.h"
#include "repro/small_program.h"
#include "repro/torchscript_source.h"

#include <gtest/gtest.h>

#include <set>

namespace repro_minify {
namespace {

std::string joined(const std::vector<CodePiece> &pieces) {
  std::string text;
  for (const auto &piece : pieces)
    text += piece.text;
  return text;
}

TEST(Code, ItsPiecesAreTheSource) {
  const Program program = testing_support::small_program();
  EXPECT_EQ(joined(code_pieces(program)), torchscript_source(program));
}

TEST(Code, EachOperatorHasAPiece) {
  const Program program = testing_support::small_program();
  std::set<std::string> found;
  for (const auto &piece : code_pieces(program))
    found.insert(piece.value);
  for (const auto *node : program.graph->nodes())
    if (counts_as_operator(node)) {
      EXPECT_TRUE(found.contains("%" + node->output()->debugName())) << node->output()->debugName();
    }
}

TEST(Code, OfAProgramWithoutSourceIsItsGraph) {
  Program program = testing_support::small_program();
  program.inputs.clear(); // no source can be printed of that
  EXPECT_NE(joined(code_pieces(program)), "");
}

} // namespace
} // namespace repro_minify
