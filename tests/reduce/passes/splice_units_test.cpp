#include "reduce/passes/splice_sites.h"

#include "reduce/passes/erf_error.h"
#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <random>

namespace repro_minify {
namespace {

using namespace testing_support;

std::shared_ptr<const Recording> recorded(const std::string &graph, const std::vector<at::Tensor> &values) {
  return std::make_shared<Recording>(record(program_from(graph, values), {}, {.timeout = std::chrono::minutes(1)}));
}

/// The kinds of the operators of each unit.
std::vector<std::string> units_of(const Recording &recording) {
  std::vector<std::string> result;
  const SpliceSites sites(recording);
  for (const auto &unit : sites.units()) {
    std::string kinds = unit.loose ? "loose:" : "";
    for (const auto *node : unit.nodes)
      kinds += (kinds.empty() || kinds.back() == ':' ? "" : " ") + std::string(node->kind().toUnqualString());
    result.push_back(kinds);
  }
  return result;
}

TEST(SpliceUnits, AreWhatWritesAndWhatItWritesTo) {
  const auto recording = recorded(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::neg(%x)
  %s : Tensor = aten::sin(%x)
  %b : Tensor = aten::relu_(%a)
  %c : Tensor = aten::cos(%a)
  return (%c, %s))IR",
                                  {small_numbers()});
  EXPECT_EQ(units_of(*recording), (std::vector<std::string>{"neg relu_", "sin", "cos"}));
}

TEST(SpliceUnits, HaveWhatIsMadeOfAnEarlierStateAndWrittenBack) {
  const auto recording = recorded(R"IR(
graph(%x : Tensor):
  %false : bool = prim::Constant[value=0]()
  %a : Tensor = aten::neg(%x)
  %b : Tensor = aten::sin(%a)
  %c : Tensor = aten::copy_(%a, %b, %false)
  %d : Tensor = aten::cos(%a)
  return (%d))IR",
                                  {small_numbers()});
  EXPECT_EQ(units_of(*recording), (std::vector<std::string>{"neg sin copy_", "cos"}));
}

TEST(SpliceUnits, FallApartWhereTheyWouldSwallowMuchElse) {
  std::string between;
  for (int i = 0; i < 9; ++i)
    between += "  %b" + std::to_string(i + 1) + " : Tensor = aten::sin(%b" + std::to_string(i) + ")\n";
  const auto recording = recorded(R"IR(
graph(%x : Tensor):
  %false : bool = prim::Constant[value=0]()
  %b0 : Tensor = aten::neg(%x)
)IR" + between + R"IR(
  %c : Tensor = aten::copy_(%b0, %b9, %false)
  %d : Tensor = aten::cos(%b0)
  return (%d))IR",
                                  {small_numbers()});
  const auto units = units_of(*recording);
  ASSERT_EQ(units.size(), 12u);
  EXPECT_EQ(units.front(), "loose:neg");
  EXPECT_EQ(units.at(1), "sin");
  EXPECT_EQ(units.at(10), "loose:copy_");
}

TEST(SpliceUnits, ComeBehindWhatTheyRead) {
  // The memory is there before what is written to it is made.
  const auto recording = recorded(R"IR(
graph(%x : Tensor):
  %false : bool = prim::Constant[value=0]()
  %z : Tensor = aten::neg(%x)
  %a : Tensor = aten::sin(%x)
  %c : Tensor = aten::copy_(%z, %a, %false)
  %d : Tensor = aten::cos(%z)
  return (%d))IR",
                                  {small_numbers()});
  EXPECT_EQ(units_of(*recording), (std::vector<std::string>{"sin", "neg copy_", "cos"}));
}

/// A program of `length` operators that read, view and write to anything there is. All values are 2 x 4.
std::string random_program(std::mt19937 &random, int length) {
  std::string text = R"IR(
graph(%v0 : Tensor, %v1 : Tensor):
  %one : int = prim::Constant[value=1]()
  %true : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %false : bool = prim::Constant[value=0]()
)IR";
  for (int i = 2; i < length + 2; ++i) {
    const auto any = [&] { return "%v" + std::to_string(random() % static_cast<unsigned>(i)); };
    const std::string made = "  %v" + std::to_string(i) + " : Tensor = ";
    switch (random() % 7) {
    case 0:
      text += made + "aten::add(" + any() + ", " + any() + ", %one)\n";
      break;
    case 1:
      text += made + "aten::add_(" + any() + ", " + any() + ", %one)\n";
      break;
    case 2:
      text += made + "aten::view_as(" + any() + ", " + any() + ")\n";
      break;
    case 3:
      text += made + "aten::copy_(" + any() + ", " + any() + ", %false)\n";
      break;
    case 4:
      text += made + "prim::If(%true)\n    block0():\n      %i" + std::to_string(i) + " : Tensor = aten::mul_(" +
              any() + ", " + any() + ")\n      -> (%i" + std::to_string(i) + ")\n    block1():\n      -> (" + any() +
              ")\n";
      break;
    default:
      text += made + "aten::sin(" + any() + ")\n";
    }
  }
  const auto last = [&](int back) { return "%v" + std::to_string(length + 2 - back); };
  return text + "  return (" + last(1) + ", " + last(2) + ", " + last(5) + ")";
}

TEST(SpliceUnits, LeaveAProgramThatRunsWhicheverSitesGo) {
  std::mt19937 random(7);
  int smaller = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string text = random_program(random, 25);
    const auto recording = recorded(text, {small_numbers(), small_numbers()});
    const Splicer splicer(recording);
    for (int part = 0; part < 4; ++part) {
      IndexSet some;
      for (int site = 0; site < splicer.sites(); ++site)
        if (random() % 4 < static_cast<unsigned>(part))
          some.push_back(site);
      for (const Program &program : {splicer.keep(some), splicer.without(some)}) {
        ASSERT_NO_THROW(program.graph->lint()) << text;
        ASSERT_NO_THROW(outputs_of(program, false)) << text;
        smaller += size_of(program).operators < size_of(recording->program).operators;
      }
    }
  }
  EXPECT_GT(smaller, 200);
}

/// A Program that keeps all its sites returns the same values, in the same order, but for outputs that are left out.
TEST(SpliceUnits, KeepWhatIsWrittenToAnythingElse) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const std::string text = random_program(random, 25);
    const auto recording = recorded(text, {small_numbers(), small_numbers()});
    const Splicer splicer(recording);
    IndexSet all(static_cast<size_t>(splicer.sites()));
    for (int site = 0; site < splicer.sites(); ++site)
      all[static_cast<size_t>(site)] = site;
    const Program whole = splicer.keep(all);
    const auto expected = outputs_of(recording->program, false), found = outputs_of(whole, false);
    ASSERT_FALSE(found.empty()) << text;
    for (size_t i = 0, j = 0; i < expected.size() && j < found.size(); ++i)
      if (at::equal(expected[i].toTensor(), found[j].toTensor()))
        ++j;
      else
        EXPECT_LT(found.size() - j, expected.size() - i) << text; // an output that was another's double
  }
}

} // namespace
} // namespace repro_minify
