// Tests of what a turn does about trouble that is not its pass's fault, and when its outcome is no longer needed.
#include "reduce/turns.h"

#include "reduce/chain.h"
#include "reduce/lookahead.h"
#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <system_error>

namespace repro_minify {
namespace {

using namespace testing_support;

/// A disk that is full while the best so far is saved, say.
TEST(Trouble, OfWhoIsToldOfABetterProgramIsNoPasss) {
  ReduceOptions options;
  options.limits.timeout = std::chrono::minutes(1);
  int told = 0;
  options.on_improved = [&](const Program &) {
    if (++told == 2)
      throw std::runtime_error("no room is left on the disk");
  };
  const auto has_erf = [](const Program &program) { return count(program, "aten::erf") == 1; };
  try {
    reduce_structurally(chain_with("erf", 8), has_erf, options);
    FAIL() << "it is the caller's to know of";
  } catch (const std::runtime_error &error) {
    EXPECT_STREQ(error.what(), "no room is left on the disk");
  }
}

const ReductionPass lacks_a_process{
    "lacks-a-process", "", Goal::Size, [](PassContext &) -> bool {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again), "fork failed");
    }};

Program endless() {
  return program_from(R"(graph(%x : Tensor):
  %most : int = prim::Constant[value=9223372036854775807]()
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%most, %yes, %x)
    block0(%i : int, %z : Tensor):
      %w : Tensor = aten::neg(%z)
      -> (%yes, %w)
  return (%y))",
                      {at::ones({2}, at::kFloat)});
}

const ReductionPass records_without_end{"records-without-end", "", Goal::Size, [](EngineContext &context) {
                                          context.services.record(endless());
                                          return false;
                                        }};

class ATurn : public testing::Test {
protected:
  ATurn() {
    const Program start = chain_with("erf", 3);
    state = {start, yes, order_of(start), Schedule(passes), {""}};
  }
  Turns::Report take(Checker &checker) {
    Turns::Report report;
    Turns(checker, recorder, passes).take(state, 0, report);
    return report;
  }

  const Verdict yes = interesting_verdict(true);
  CandidateChecker checker{structural_test([](const Program &) { return true; }), yes.signatures.front(),
                           ReduceOptions()};
  LastRecording recorder;
  std::vector<const ReductionPass *> passes{&lacks_a_process};
  ReductionState state{{}, yes, {}, Schedule(passes), {}};
};

TEST_F(ATurn, BlamesTheMachineForWhatItHasNotGot) {
  EXPECT_EQ(take(checker).problem, "");
  EXPECT_NE(state.incomplete_because[0].find("fork failed"), std::string::npos) << state.incomplete_because[0];
}

/// Eager is not run for a program that may never come to be: nothing beyond is guessed.
TEST_F(ATurn, ThatLooksAheadEndsWhereItWouldRecord) {
  passes = {&records_without_end};
  int asked = 0;
  AssumingChecker answers(checker, {}, yes, [&] { return ++asked > 3; });
  const auto end = answers.run([&] { take(answers); });
  EXPECT_FALSE(end.question || end.stopped);
}

} // namespace
} // namespace repro_minify
