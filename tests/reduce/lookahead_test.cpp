// A look ahead asks nothing of the machine: no check, no eager run, no process, for a program that may never come to
// be.
#include "reduce/lookahead.h"

#include "reduce/chain.h"
#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <pthread.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

namespace repro_minify {
namespace {

using namespace testing_support;

int forks = 0;
const int counts_forks = pthread_atfork([] { ++forks; }, nullptr, nullptr);

/// There is something in it for each pass that asks what eager computes: nodes, a branch, a loop.
Program with_branch_and_loop() {
  return program_from(R"(graph(%x : Tensor):
  %yes : bool = prim::Constant[value=1]()
  %three : int = prim::Constant[value=3]()
  %v : Tensor = aten::tanh(%x)
  %e : Tensor = aten::erf(%v)
  %n : Tensor = aten::neg(%e)
  %y : Tensor = prim::If(%yes)
    block0():
      %p : Tensor = aten::sin(%n)
      -> (%p)
    block1():
      -> (%n)
  %z : Tensor = prim::Loop(%three, %yes, %y)
    block0(%i : int, %w : Tensor):
      %u : Tensor = aten::cos(%w)
      -> (%yes, %u)
  %o : Tensor = aten::neg(%z)
  return (%o))",
                      {at::arange(24, at::kFloat).mul(0.1).view({4, 6}).t()});
}

/// The work that the machine is given by looks ahead, and what comes of it.
struct Asked {
  int guesses = 0;
  int forks = 0;
  int checks = 0;
};

/// Counts what a look ahead takes to name its guesses.
Foresight watched(const std::shared_ptr<Lookahead> &ahead, const int &checks, Asked &asked) {
  return [ahead, &checks, &asked] {
    const int forks_before = forks, checks_before = checks;
    auto guess = ahead->next();
    asked.forks += forks - forks_before;
    asked.checks += checks - checks_before;
    asked.guesses += guess.has_value();
    return guess;
  };
}

class ALookAhead : public testing::Test {
protected:
  ALookAhead() {
    for (const ReductionPass &pass : reduction_passes())
      passes.push_back(&pass);
  }

  /// Checks that take a moment, so that there is time to look ahead; with how many were begun.
  InterestingnessTest slow_test() {
    InterestingnessTest test = structural_test([](const Program &program) { return count(program, "aten::erf") == 1; });
    test.job = [this, job_of = test.job](const std::shared_ptr<const Program> &program) -> Job {
      ++checks;
      return [job = job_of(program)](Child &child) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        job(child);
      };
    };
    return test;
  }

  static ReduceOptions options() {
    ReduceOptions options;
    options.jobs = 3;
    options.limits.timeout = std::chrono::minutes(1);
    return options;
  }

  ReductionState state_of(const Program &start) const {
    return {start, yes, order_of(start), Schedule(passes), std::vector<std::string>(passes.size())};
  }

  const Verdict yes = interesting_verdict(true);
  int checks = 0;
  std::vector<const ReductionPass *> passes;
  LastRecording recorder;
};

/// Goes through a whole reduction, whose own turns record.
TEST_F(ALookAhead, AsksNothingOfTheMachine) {
  ASSERT_EQ(counts_forks, 0);
  CandidateChecker checker(slow_test(), yes.signatures.front(), options());
  ReductionState state = state_of(with_branch_and_loop()), began = state;
  Asked asked;
  checker.foresee_with(
      [&] { return watched(std::make_shared<Lookahead>(checker, recorder, passes, began), checks, asked); });
  Turns turns(checker, recorder, passes);
  while (const auto pass = state.schedule.next()) {
    Turns::Report report;
    turns.take(state, *pass, report);
    began = state;
  }
  EXPECT_EQ(size_of(state.best).operators, 1);
  EXPECT_GT(asked.guesses, 0);
  EXPECT_EQ(asked.forks, 0);
  EXPECT_EQ(asked.checks, 0);
  EXPECT_TRUE(recorder.made_of(state.best)) << "the turns themselves record";
}

/// All simplifications at once, for a hang. A pass that wants values is left out, and those after it are not.
TEST_F(ALookAhead, ThatAssumesThatAllWorksAsksNothingEither) {
  const CandidateChecker checker(slow_test(), yes.signatures.front(), options());
  const int before = forks;
  const std::vector<Program> steps = steps_if_all_works(checker, recorder, passes, state_of(with_branch_and_loop()));
  EXPECT_EQ(forks, before);
  EXPECT_EQ(checks, 0);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.back().inputs.at(0).value.toTensor().numel(), 1);
}

} // namespace
} // namespace repro_minify
