// How long the Judge waits for an answer before it believes in a hang.
#include "reduce/judge.h"

#include "program/program_from.h"
#include "reduce/structural_oracle.h"
#include "support/temporary_folder.h"

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

/// A search for a hang whose limit of 200 ms has been raised to hours, as it knows of a program that passes after one.
class SearchForAHang : public testing::Test {
protected:
  SearchForAHang() {
    options.limits.timeout = 200ms;
    options.highest_timeout = 4h;
    options.jobs = 2;
    options.journal = std::make_shared<Journal>(folder / "journal", Identity(), false);
    Verdict slow = interesting_verdict(false);
    slow.wall_seconds = 3600;
    options.journal->append(canonical_hash(slow_program), slow, "", {}, false);
    test.job = [this](const std::shared_ptr<const Program> &) { return jobs.at(begun++); };
    test.verdict_of = [](const JobEnd &job_end) { return verdict_of(job_end); };
  }
  const Job takes_longer_than_that = [](Child &child) {
    child.stage("optimised");
    std::this_thread::sleep_for(600ms);
    child.reply(to_json(interesting_verdict(false)));
  };
  bool hangs(const Verdict &verdict) const { return shows(verdict, wanted); }

  const TemporaryFolder folder;
  const Program slow_program = program_of("tanh"), asked = program_of("neg"), asked_later = program_of("erf");
  const Signature wanted{FailureKind::Hang, "", ""};
  ReduceOptions options;
  InterestingnessTest test;
  std::vector<Job> jobs;
  std::size_t begun = 0;
};

TEST_F(SearchForAHang, IsAsPatientWhenItAsksAgain) {
  jobs = {[](Child &) { kill(getpid(), SIGKILL); }, takes_longer_than_that};
  Judge judge(test, wanted, options);
  judge.judge(slow_program, {});
  EXPECT_FALSE(hangs(judge.judge(asked, {})));
  EXPECT_EQ(begun, 2u);
}

/// With one job the guess would have been asked later, and had longer.
TEST_F(SearchForAHang, AsksAgainWhatWasGuessedWithLessPatience) {
  options.limits.timeout = 1s;
  const auto answers_after = [](std::chrono::milliseconds time) {
    return [time](Child &child) {
      child.stage("optimised");
      std::this_thread::sleep_for(time);
      child.reply(to_json(interesting_verdict(false)));
    };
  };
  jobs = {answers_after(100ms), answers_after(1500ms), answers_after(1500ms)};
  Judge judge(test, wanted, options);
  judge.judge(asked, {[this] { return asked_later; }}); // nothing is known yet of slow programs
  judge.judge(slow_program, {});
  EXPECT_FALSE(hangs(judge.judge(asked_later, {})));
  EXPECT_EQ(begun, 3u);
}

} // namespace
} // namespace repro_minify
