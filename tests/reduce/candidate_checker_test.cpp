// How long the CandidateChecker waits for an answer before it believes in a hang.
#include "reduce/candidate_checker.h"

#include "core/files.h"
#include "program/program_from.h"
#include "reduce/structural_oracle.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <signal.h>
#include <unistd.h>

namespace repro_minify {
namespace {

using namespace testing_support;
using namespace std::chrono_literals;

Program program_of(const std::string &kind) {
  return program_from("graph(%x : Tensor):\n  %y : Tensor = aten::" + kind + "(%x)\n  return (%y)",
                      {at::ones({2}, at::kFloat)});
}

const Signature hang{FailureKind::Hang, "", ""};

/// Asked again alone, because its process was killed from outside, it has neither less time nor more.
TEST(SearchForAHang, IsAsPatientWhenItAsksAgain) {
  ReduceOptions options;
  options.limits.timeout = 3s; // a busy machine may let a child wait for its first turn
  options.jobs = 2;
  std::size_t begun = 0;
  const std::vector<Job> jobs = {[](Child &) { kill(getpid(), SIGKILL); },
                                 [](Child &child) {
                                   child.stage("optimised");
                                   std::this_thread::sleep_for(1h);
                                 },
                                 [](Child &child) { child.reply(to_json(interesting_verdict(false))); }};
  InterestingnessTest test;
  test.job = [&](const std::shared_ptr<const Program> &) { return jobs.at(begun++); };
  test.verdict_of = [](const JobEnd &job_end) { return verdict_of(job_end); };
  CandidateChecker checker(test, hang, options);
  EXPECT_TRUE(shows(checker.check(program_of("neg"), {}), hang));
  EXPECT_EQ(begun, 2u);
}

/// A program that passes after an hour, which an earlier run wrote down, says nothing about what a hang is.
TEST(SearchForAHang, HasOneLimitForAll) {
  const TemporaryFolder folder;
  const Program slow = program_of("tanh");
  ReduceOptions options;
  options.limits.timeout = 3s; // as above
  options.journal = std::make_shared<Journal>(folder / "journal", Identity(), false);
  Verdict passes = interesting_verdict(false);
  passes.wall_seconds = 3600;
  options.journal->append(canonical_hash(slow), passes, "", {}, false);
  InterestingnessTest test;
  test.job = [](const std::shared_ptr<const Program> &) {
    return [](Child &child) {
      child.stage("optimised");
      std::this_thread::sleep_for(1h);
    };
  };
  test.verdict_of = [](const JobEnd &job_end) { return verdict_of(job_end); };
  CandidateChecker checker(test, hang, options);
  EXPECT_FALSE(shows(checker.check(slow, {}), hang));
  EXPECT_TRUE(shows(checker.check(program_of("neg"), {}), hang));
}

/// Seven programs pass just within the limit, as an earlier run wrote down: the eighth is not waited for, until a
/// better program is found.
TEST(SearchForAHang, EndsWhereOneProgramAfterTheOtherTakesTheWholeLimit) {
  const TemporaryFolder folder;
  ReduceOptions options;
  options.limits.timeout = 3s;
  options.journal = std::make_shared<Journal>(folder / "journal", Identity(), false);
  Verdict passes = interesting_verdict(false);
  passes.wall_seconds = 2.9;
  const std::vector<Program> slow = {program_of("tanh"), program_of("sin"), program_of("cos"), program_of("exp"),
                                     program_of("relu"), program_of("abs"), program_of("sqrt")};
  for (const Program &program : slow)
    options.journal->append(canonical_hash(program), passes, "", {}, false);
  InterestingnessTest test;
  test.job = [](const std::shared_ptr<const Program> &) {
    return [](Child &child) { child.reply(to_json(interesting_verdict(false))); };
  };
  test.verdict_of = [](const JobEnd &job_end) { return verdict_of(job_end); };
  CandidateChecker checker(test, hang, options);
  for (const Program &program : slow)
    EXPECT_FALSE(shows(checker.check(program, {}), hang));
  try {
    checker.check(program_of("neg"), {});
    ADD_FAILURE() << "the limits are spent";
  } catch (EndedEarly why) {
    EXPECT_EQ(why, EndedEarly::LimitsSpent);
  }
  checker.found_better();
  EXPECT_FALSE(shows(checker.check(program_of("neg"), {}), hang));
}

} // namespace
} // namespace repro_minify
