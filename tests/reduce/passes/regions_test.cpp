// Stretches that vanish whole: what writes in place, what has blocks, what is packed or taken apart, what changes the
// shape and changes it back.
#include "reduce/passes/golden.h"

#include "reduce/passes/erf_error.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

bool is_positive(const Program &program) {
  const auto outputs = outputs_of(program, false);
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const auto &output) { return output.toTensor().min().template item<float>() > 0; });
}

/// All passes that make a program smaller.
GoldenResult reduced(const std::string &graph, const std::vector<at::Tensor> &values,
                     const Predicate &interesting = error_gets_to_log1p) {
  const Program program = program_from(graph, values);
  EXPECT_TRUE(interesting(program));
  ReduceOptions options;
  options.passes.only = {"cut",      "copies", "inputs",     "outputs", "splice",
                         "branches", "loops",  "duplicates", "packing", "plain-values"};
  options.limits.timeout = std::chrono::minutes(1);
  Reduction reduction = reduce_structurally(program, interesting, options);
  return {reduction.program.graph->toString(false), reduction.checks, std::move(reduction)};
}

TEST(Regions, WriteIntoPartsOfWhatTheyMake) {
  const auto result = reduced(R"IR(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %dim : int = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %two : int = prim::Constant[value=2]()
  %false : bool = prim::Constant[value=0]()
  %a : Tensor = aten::erf(%x)
  %z : Tensor = aten::zeros_like(%a, %none, %none, %none, %none, %none)
  %p : Tensor = aten::slice(%z, %dim, %zero, %two, %dim)
  %q : Tensor = aten::slice(%a, %dim, %zero, %two, %dim)
  %c : Tensor = aten::copy_(%p, %q, %false)
  %y : Tensor = aten::log1p(%z)
  return (%y))IR",
                              {small_numbers()});
  EXPECT_EQ(operators(result), 2); // without regions, 3 in 49 checks: the copy_ stays
  EXPECT_EQ(result.checks, 33);
}

TEST(Regions, FillAList) {
  const auto result = reduced(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %a : Tensor = aten::erf(%x)
  %l : Tensor[] = prim::ListConstruct()
  %n : Tensor = aten::neg(%a)
  %l1 : Tensor[] = aten::append(%l, %a)
  %l2 : Tensor[] = aten::append(%l, %n)
  %s : Tensor = aten::stack(%l, %zero)
  %y : Tensor = aten::log1p(%s)
  return (%y))IR",
                              {small_numbers()});
  EXPECT_EQ(operators(result), 2); // without: 4, the append and the stack
  EXPECT_EQ(result.checks, 30);
}

TEST(Regions, FillAListInALoop) {
  const auto result = reduced(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %three : int = prim::Constant[value=3]()
  %true : bool = prim::Constant[value=1]()
  %a : Tensor = aten::erf(%x)
  %l : Tensor[] = prim::ListConstruct()
  prim::Loop(%three, %true)
    block0(%i : int):
      %n : Tensor = aten::add(%a, %i, %i)
      %l1 : Tensor[] = aten::append(%l, %n)
      -> (%true)
  %s : Tensor = aten::stack(%l, %zero)
  %m : Tensor = aten::select(%s, %zero, %zero)
  %y : Tensor = aten::log1p(%m)
  return (%y))IR",
                              {small_numbers()});
  EXPECT_EQ(operators(result), 2); // without: 4
  EXPECT_EQ(result.checks, 31);
}

TEST(Regions, EndWhereTwoListsAreFilledWithEachOther) {
  const auto result = run_pass("splice",
                               program_from(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %a : Tensor = aten::erf(%x)
  %l : Tensor[] = prim::ListConstruct(%a)
  %m : Tensor[] = prim::ListConstruct()
  aten::extend(%m, %l)
  aten::extend(%l, %m)
  %s : Tensor = aten::stack(%l, %zero)
  %y : Tensor = aten::log1p(%s)
  return (%y))IR",
                                            {small_numbers()}),
                               error_gets_to_log1p);
  EXPECT_EQ(operators(result), 2);
  EXPECT_EQ(result.checks, 3);
}

TEST(Regions, AreOneNodeThatPutsTogether) {
  const auto result = reduced(R"IR(
graph(%x : Tensor, %u : Tensor):
  %zero : int = prim::Constant[value=0]()
  %a : Tensor = aten::erf(%x)
  %l : Tensor[] = prim::ListConstruct(%a, %u)
  %c : Tensor = aten::cat(%l, %zero)
  %y : Tensor = aten::log1p(%c)
  return (%y))IR",
                              {small_numbers(), small_numbers()});
  EXPECT_EQ(operators(result), 2); // without: 3
  EXPECT_EQ(result.checks, 19);
}

TEST(Regions, AreOneNodeThatTakesApart) {
  const auto result = reduced(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %two : int = prim::Constant[value=2]()
  %a : Tensor = aten::erf(%x)
  %l : Tensor[] = aten::chunk(%a, %two, %zero)
  %b : Tensor, %c : Tensor = prim::ListUnpack(%l)
  %d : Tensor = aten::log1p(%b)
  return (%d))IR",
                              {small_numbers()});
  EXPECT_EQ(operators(result), 2); // without: 3
  EXPECT_EQ(result.checks, 18);
}

/// Neither product can go alone: what is left would not fit the other one, or the maximum.
TEST(Regions, ChangeTheShapeAndChangeItBackInASmallProgram) {
  const auto result = reduced(
      R"IR(
graph(%x : Tensor, %up : Tensor, %down : Tensor, %k : Tensor):
  %a : Tensor = aten::erf(%x)
  %b : Tensor = aten::mm(%a, %up)
  %c : Tensor = aten::mm(%b, %down)
  %d : Tensor = aten::maximum(%c, %k)
  %y : Tensor = aten::log1p(%d)
  return (%y))IR",
      {small_numbers(), at::ones({4, 5}), at::ones({5, 4}), at::full({2, 4}, -0.9)}, [](const Program &candidate) {
        return error_gets_to_log1p(candidate) && count(candidate, "aten::maximum") == 1;
      });
  EXPECT_EQ(operators(result), 3); // without: 5
  EXPECT_EQ(result.checks, 38);
}

/// Each of the two alone changes the sign of what is seen.
TEST(Regions, AreTwoNodesThatUndoEachOther) {
  const auto result = reduced(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::erf(%x)
  %b : Tensor = aten::neg(%a)
  %c : Tensor = aten::neg(%b)
  %y : Tensor = aten::log1p(%c)
  return (%y))IR",
                              {at::full({2, 4}, 0.25)}, [](const Program &candidate) {
                                return count(candidate, "aten::erf") == 1 && count(candidate, "aten::log1p") == 1 &&
                                       candidate.graph->outputs().size() == 1 && is_positive(candidate) &&
                                       candidate.inputs.size() == 1;
                              });
  EXPECT_EQ(operators(result), 2); // without: 4
  EXPECT_EQ(result.checks, 16);
}

/// A loop that hands a value on, and an oracle that wants none written out: three iterations do what no two do.
TEST(Regions, AreALoopThatRotatesWhatItCarries) {
  const auto result = run_pass("splice",
                               program_from(R"IR(
graph(%x : Tensor, %u : Tensor, %v : Tensor):
  %trips : int = prim::Constant[value=2]()
  %true : bool = prim::Constant[value=1]()
  %a : Tensor = aten::erf(%x)
  %p : Tensor, %q : Tensor, %r : Tensor = prim::Loop(%trips, %true, %a, %u, %v)
    block0(%i : int, %b : Tensor, %c : Tensor, %d : Tensor):
      -> (%true, %d, %b, %c)
  %y : Tensor = aten::log1p(%r)
  return (%y))IR",
                                            {small_numbers(), at::zeros({2, 4}), at::zeros({2, 4})}),
                               error_gets_to_log1p);
  EXPECT_EQ(operators(result), 2); // without: 3
  EXPECT_EQ(result.checks, 1);
}

/// The branch also makes a number, which is read elsewhere.
TEST(Regions, LeaveAConstantForANumber) {
  const auto result = run_pass(
      "splice",
      program_from(R"IR(
graph(%x : Tensor):
  %two : int = prim::Constant[value=2]()
  %true : bool = prim::Constant[value=1]()
  %a : Tensor = aten::erf(%x)
  %q : Tensor, %n : int = prim::If(%true)
    block0():
      %b : Tensor = aten::neg(%a)
      %o : int = aten::add(%two, %two)
      -> (%b, %o)
    block1():
      -> (%a, %two)
  %d : Tensor = aten::div(%q, %n)
  %y : Tensor = aten::log1p(%d)
  return (%y))IR",
                   {small_numbers()}),
      [](const Program &candidate) { return error_gets_to_log1p(candidate) && count(candidate, "aten::div") == 1; });
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %8 : int = prim::Constant[value=2]()
  %3 : Tensor = aten::erf(%x)
  %6 : Tensor = aten::div(%3, %8)
  %7 : Tensor = aten::log1p(%6)
  return (%7)
)IR"); // without, the prim::If stays
  EXPECT_EQ(result.checks, 6);
}

/// Each block writes half of what it hands on in place: no node of it has a stand-in of its own.
std::string written_in_place(int blocks) {
  std::string text = R"IR(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %dim : int = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %two : int = prim::Constant[value=2]()
  %false : bool = prim::Constant[value=0]()
  %a0 : Tensor = aten::erf(%x)
)IR";
  for (int i = 0; i < blocks; ++i) {
    const std::string n = std::to_string(i), before = "%a" + n, after = "%a" + std::to_string(i + 1);
    text += "  " + after + " : Tensor = aten::zeros_like(" + before + ", %none, %none, %none, %none, %none)\n";
    text += "  %p" + n + " : Tensor = aten::slice(" + after + ", %dim, %zero, %two, %dim)\n";
    text += "  %q" + n + " : Tensor = aten::slice(" + before + ", %dim, %zero, %two, %dim)\n";
    text += "  %c" + n + " : Tensor = aten::copy_(%p" + n + ", %q" + n + ", %false)\n";
  }
  return text + "  %y : Tensor = aten::log1p(%a" + std::to_string(blocks) + ")\n  return (%y)";
}

TEST(Regions, GoManyAtOnce) {
  const auto result = run_pass("splice", program_from(written_in_place(20), {small_numbers()}), error_gets_to_log1p);
  EXPECT_EQ(operators(result), 2);
  EXPECT_EQ(result.checks, 3);
}

/// True if the error shows in an argument that is returned.
bool error_gets_into_an_argument(const Program &program) {
  const auto right = outputs_of(program, false), wrong = outputs_of(program, true);
  for (size_t i = 0; i < right.size(); ++i)
    if (program.graph->outputs()[i]->node() == program.graph->param_node() &&
        !at::allclose(right[i].toTensor(), wrong[i].toTensor()))
      return true;
  return false;
}

TEST(Regions, LeaveAnArgumentThatIsWrittenToAndReturned) {
  std::string text = R"IR(
graph(%x : Tensor, %z : Tensor):
  %no : bool = prim::Constant[value=0]()
  %a0 : Tensor = aten::erf(%x)
)IR";
  for (int i = 0; i < 20; ++i)
    text += "  %a" + std::to_string(i + 1) + " : Tensor = aten::sin(%a" + std::to_string(i) + ")\n";
  text += "  %c : Tensor = aten::copy_(%z, %a20, %no)\n  return (%z)";
  const auto result =
      run_pass("splice", program_from(text, {small_numbers(), small_numbers()}), error_gets_into_an_argument);
  EXPECT_EQ(operators(result), 2);
  EXPECT_EQ(result.checks, 4); // without, each node alone: 21
}

} // namespace
} // namespace repro_minify
