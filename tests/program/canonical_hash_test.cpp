// Tests of what canonical_hash tells apart, and of what it must not.
#include "program/cut.h"
#include "program/fixture.h"
#include "program/program_from.h"

#include "repro_minify/program.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

namespace repro_minify {
namespace {

using testing_support::program_from;

std::string hash_of_ir(const std::string &ir) {
  return canonical_hash(program_from(ir, {at::ones({2}), at::ones({2})}));
}

std::string addition(const std::string &operands, const std::string &alpha) {
  return "graph(%a : Tensor, %b : Tensor):\n  " + alpha + "\n  %c : Tensor = aten::add(" + operands +
         ", %alpha)\n  return (%c)";
}

TEST(CanonicalHash, IgnoresHowTheGraphCameAbout) {
  const std::string plain = addition("%a, %b", "%alpha : int = prim::Constant[value=1]()");
  Program edited = program_from(plain, {at::ones({2}), at::ones({2})});
  edited.graph->addInput("gone"); // takes a number
  edited.graph->eraseInput(2);
  edited.graph = edited.graph->copy();
  EXPECT_EQ(canonical_hash(edited), hash_of_ir(plain));
}

TEST(CanonicalHash, IgnoresWhereConstantsStandAndWhetherTheyAreShared) {
  const std::string shared = R"IR(graph(%a : Tensor, %b : Tensor):
  %one : int = prim::Constant[value=1]()
  %c : Tensor = aten::add(%a, %b, %one)
  %d : Tensor = aten::add(%c, %b, %one)
  return (%d))IR";
  const std::string apart = R"IR(graph(%a : Tensor, %b : Tensor):
  %other : int = prim::Constant[value=1]()
  %one : int = prim::Constant[value=1]()
  %c : Tensor = aten::add(%a, %b, %one)
  %d : Tensor = aten::add(%c, %b, %other)
  return (%d))IR";
  EXPECT_EQ(hash_of_ir(shared), hash_of_ir(apart));
}

TEST(CanonicalHash, IgnoresWhereListsArePutTogether) {
  const std::string first = R"IR(graph(%a : Tensor, %b : Tensor):
  %dim : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%a, %b)
  %c : Tensor = aten::relu(%a)
  %d : Tensor = aten::cat(%list, %dim)
  return (%c, %d))IR";
  const std::string late = R"IR(graph(%a : Tensor, %b : Tensor):
  %unread : Tensor[] = prim::ListConstruct(%b)
  %c : Tensor = aten::relu(%a)
  %dim : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%a, %b)
  %d : Tensor = aten::cat(%list, %dim)
  return (%c, %d))IR";
  EXPECT_EQ(hash_of_ir(first), hash_of_ir(late));
}

/// Returns the hash of a loop that appends to one list (`outside`), or to a new one in each iteration.
std::string hash_of_appending(bool outside) {
  const std::string list = "%list : Tensor[] = prim::ListConstruct(%a)\n";
  return hash_of_ir("graph(%a : Tensor, %b : Tensor):\n"
                    "  %two : int = prim::Constant[value=2]()\n"
                    "  %yes : bool = prim::Constant[value=1]()\n" +
                    (outside ? "  " + list : "") +
                    "  %y : Tensor = prim::Loop(%two, %yes, %b)\n"
                    "    block0(%i : int, %c : Tensor):\n" +
                    (outside ? "" : "      " + list) +
                    "      %same : Tensor[] = aten::append(%list, %c)\n"
                    "      %d : Tensor = aten::cat(%list, %i)\n"
                    "      -> (%yes, %d)\n"
                    "  return (%y)");
}

TEST(CanonicalHash, SeesInWhichBlockAListIsPutTogether) {
  EXPECT_NE(hash_of_appending(true), hash_of_appending(false));
}

TEST(CanonicalHash, SeesWhetherTwoReadOneList) {
  const std::string begin = "graph(%a : Tensor, %b : Tensor):\n  %l : Tensor[] = prim::ListConstruct(%a)\n";
  const std::string other = "  %m : Tensor[] = prim::ListConstruct(%a)\n";
  const auto rest = [](const std::string &list) {
    return "  %same : Tensor[] = aten::append(%l, %b)\n  %n : int = aten::len(%" + list + ")\n  return (%n)";
  };
  EXPECT_NE(hash_of_ir(begin + rest("l")), hash_of_ir(begin + other + rest("m")));
}

TEST(CanonicalHash, TellsApartOperandsConstantsAndTheirTypes) {
  const std::string one = "%alpha : int = prim::Constant[value=1]()";
  const std::set<std::string> hashes = {
      hash_of_ir(addition("%a, %b", one)),
      hash_of_ir(addition("%b, %a", one)),
      hash_of_ir(addition("%a, %a", one)),
      hash_of_ir(addition("%a, %b", "%alpha : int = prim::Constant[value=2]()")),
      hash_of_ir(addition("%a, %b", "%alpha : float = prim::Constant[value=1.]()")),
      hash_of_ir(addition("%a, %b", "%alpha : float = prim::Constant[value=1.0000000001]()")),
      hash_of_ir(addition("%a, %b", "%alpha : bool = prim::Constant[value=1]()")),
  };
  EXPECT_EQ(hashes.size(), 7u);
}

TEST(CanonicalHash, SeesThatALargeTensorWasWrittenTo) {
  const std::string ir = "graph(%a : Tensor):\n  %c : Tensor = aten::relu(%a)\n  return (%c)";
  const at::Tensor large = at::zeros({5000});
  const std::string before = canonical_hash(program_from(ir, {large}));
  EXPECT_EQ(canonical_hash(program_from(ir, {large})), before);
  EXPECT_EQ(canonical_hash(program_from(ir, {large.clone()})), before);
  large[4321] = 1;
  EXPECT_NE(canonical_hash(program_from(ir, {large})), before);
}

TEST(CanonicalHash, DoesNotTakeANewTensorForAnOldOneAtItsAddress) {
  const std::string ir = "graph(%a : Tensor):\n  %c : Tensor = aten::relu(%a)\n  return (%c)";
  std::set<std::string> hashes;
  for (int i = 0; i < 100; ++i)
    hashes.insert(canonical_hash(program_from(ir, {at::full({5000}, i)})));
  EXPECT_EQ(hashes.size(), 100u);
}

TEST(Cut, NamesEveryInputApart) {
  std::string ir = "graph(%a : Tensor):\n  %x.0 : Tensor = aten::relu(%a)\n";
  constexpr int length = 200;
  for (int i = 1; i < length; ++i)
    ir += "  %x." + std::to_string(i) + " : Tensor = aten::relu(%x." + std::to_string(i - 1) + ")\n";
  const Program chain = program_from(ir + "  return (%x." + std::to_string(length - 1) + ")", {at::ones({2})});
  const Cutter cutter(std::make_shared<Recording>(record(chain, {}, testing_support::test_limits())));
  IndexSet odd;
  for (int i = 1; i < length; i += 2)
    odd.push_back(i);
  const Program cut = cutter.cut(odd);
  std::set<std::string> names;
  for (const auto &input : cut.inputs)
    names.insert(input.name);
  EXPECT_EQ(names.size(), odd.size());
  EXPECT_TRUE(names.count("relu")) << *cut.graph;
  EXPECT_TRUE(names.count("relu_99"));
}

} // namespace
} // namespace repro_minify
