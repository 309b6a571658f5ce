// Tests of what canonical_form says of a program, and of what it leaves out.
#include "program/program_from.h"
#include "program/value_digest.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using testing_support::program_from;

std::string form_of(const std::string &ir, const std::vector<at::Tensor> &values = {at::ones({2}), at::ones({2})}) {
  return canonical_form(program_from(ir, values));
}

std::string sum(const std::string &operands, const std::string &alpha = "1") {
  return "graph(%a : Tensor, %b : Tensor):\n  %alpha : int = prim::Constant[value=" + alpha +
         "]()\n  %m : Tensor = aten::relu(%b)\n  %c : Tensor = aten::add(" + operands + ", %alpha)\n  return (%c)";
}

TEST(CanonicalForm, SaysOperatorsAndTypes) {
  EXPECT_EQ(form_of("graph(%a : Tensor):\n  %b : Tensor = aten::relu(%a)\n  return (%b)", {at::ones({2, 3})}),
            "return aten::relu(%1:float32)");
}

TEST(CanonicalForm, LeavesOutNamesSizesAndRoles) {
  Program other = program_from(sum("%a, %m"), {at::ones({7, 5}), at::ones({5})});
  other.inputs[0].name = "weight";
  other.inputs[0].role = Role::Parameter;
  EXPECT_EQ(canonical_form(other), form_of(sum("%a, %m")));
}

/// Neither is written by functions that call each other as deep as the graph is.
TEST(CanonicalForm, OfAVeryLongChainIsADigest) {
  const auto chain = [](const std::string &operation) {
    std::string text = "graph(%0 : Tensor):\n";
    for (int i = 1; i <= 20'000; ++i)
      text += "  %" + std::to_string(i) + " : Tensor = aten::" + (i == 500 ? operation : "relu") + "(%" +
              std::to_string(i - 1) + ")\n";
    return text + "  return (%20000)";
  };
  const std::string form = form_of(chain("abs"), {at::ones({2})});
  EXPECT_TRUE(form.starts_with("20000 nodes, digest ")) << form;
  EXPECT_EQ(form, form_of(chain("abs"), {at::ones({3})}));
  EXPECT_NE(form, form_of(chain("neg"), {at::ones({2})}));
}

TEST(CanonicalForm, TellsTypesApart) {
  EXPECT_NE(form_of(sum("%a, %m"), {at::ones({2}, at::kDouble), at::ones({2})}), form_of(sum("%a, %m")));
}

TEST(CanonicalForm, OperandsThatMayBeSwappedAre) {
  EXPECT_EQ(form_of(sum("%a, %m")), form_of(sum("%m, %a")));
  const std::string minus = "graph(%a : Tensor, %b : Tensor):\n  %m : Tensor = aten::relu(%b)\n"
                            "  %one : int = prim::Constant[value=1]()\n  %c : Tensor = aten::sub(";
  EXPECT_NE(form_of(minus + "%a, %m, %one)\n  return (%c)"), form_of(minus + "%m, %a, %one)\n  return (%c)"));
}

TEST(CanonicalForm, DefaultsAreLeftOutAndOfOtherNumbersThereIsTheSign) {
  EXPECT_EQ(form_of(sum("%a, %m", "1")).find("alpha"), std::string::npos);
  EXPECT_EQ(form_of(sum("%a, %m", "3")), form_of(sum("%a, %m", "17")));
  EXPECT_NE(form_of(sum("%a, %m", "3")), form_of(sum("%a, %m", "-3")));
  EXPECT_NE(form_of(sum("%a, %m", "3")), form_of(sum("%a, %m", "1")));
}

TEST(CanonicalForm, KeepsWhoReadsOneValue) {
  EXPECT_NE(form_of(sum("%a, %a")), form_of(sum("%a, %b")));
}

TEST(CanonicalForm, AResultIsSharedWhereOneMoreReadsIt) {
  const auto shared_in = [](const std::string &end) {
    const std::string head = "graph(%a : Tensor):\n  %b : Tensor = aten::relu(%a)\n  %c : Tensor = aten::mul(%b, %b)\n";
    return count_shared_results(program_from(head + end, {at::ones({2})}));
  };
  EXPECT_EQ(shared_in("  return (%c)"), 0); // one that reads it twice is one
  EXPECT_EQ(shared_in("  return (%c, %b)"), 1);
  EXPECT_EQ(shared_in("  %d : Tensor = aten::tanh(%b)\n  return (%c, %d)"), 1);
  EXPECT_EQ(shared_in("  %d : Tensor = aten::tanh(%c)\n  return (%b, %c, %d)"), 2);
  EXPECT_EQ(shared_in("  %d : Tensor = aten::tanh(%a)\n  return (%c, %d)"), 0); // an input is no result
}

TEST(CanonicalForm, TheOrderOfNodesAndOutputsIsLeftOut) {
  const std::string head = "graph(%a : Tensor, %b : Tensor):\n";
  const std::string relu = "  %c : Tensor = aten::relu(%a)\n", tanh = "  %d : Tensor = aten::tanh(%b)\n";
  EXPECT_EQ(form_of(head + relu + tanh + "  return (%c, %d)"), form_of(head + tanh + relu + "  return (%d, %c)"));
}

TEST(CanonicalForm, WhatIsWrittenInPlaceIsSaid) {
  const std::string text = form_of("graph(%a : Tensor, %b : Tensor):\n  %one : int = prim::Constant[value=1]()\n"
                                   "  %c : Tensor = aten::add_(%a, %b, %one)\n  return (%a)");
  EXPECT_NE(text.find("aten::add_("), std::string::npos) << text;
  EXPECT_NE(text.find("; return"), std::string::npos) << text;
}

/// Forty levels that read the level below twice: as a tree it would have 2^40 leaves.
TEST(CanonicalForm, SharedValuesAreWrittenOnce) {
  std::string ir = "graph(%v0 : Tensor):\n  %one : int = prim::Constant[value=1]()\n";
  for (int i = 0; i < 40; ++i)
    ir += "  %v" + std::to_string(i + 1) + " : Tensor = aten::add(%v" + std::to_string(i) + ", %v" + std::to_string(i) +
          ", %one)\n";
  EXPECT_LT(form_of(ir + "  return (%v40)", {at::ones({2})}).size(), 2000u);
}

TEST(OperatorsOf, EachOnceAndSortedInnerBlocksToo) {
  const Program program = program_from(R"IR(graph(%a : Tensor, %b : Tensor):
  %yes : bool = prim::Constant[value=1]()
  %c : Tensor = prim::If(%yes)
    block0():
      %d : Tensor = aten::tanh(%a)
      -> (%d)
    block1():
      -> (%b)
  %e : Tensor = aten::relu(%c)
  %f : Tensor = aten::relu(%e)
  return (%f))IR",
                                       {at::ones({2}), at::ones({2})});
  EXPECT_EQ(operators_of(program), (std::vector<std::string>{"aten::relu", "aten::tanh", "prim::If"}));
}

} // namespace
} // namespace repro_minify
