// A check without an answer is asked again, and says nothing: whatever goes wrong with every tenth check, the result is
// the undisturbed one.
#include "core/files.h"
#include "reduce/chain.h"
#include "reduce/journal.h"
#include "reduce/passes/golden.h"
#include "tasks/failing_fork.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace repro_minify {
namespace {

using namespace testing_support;

bool has_erf_of_many(const Program &program) {
  // Several that have to stay: it takes a while to find them.
  return count(program, "aten::erf") == 1 && count(program, "aten::neg") >= 4 && program.inputs.size() == 1 &&
         program.inputs.front().value.toTensor().numel() >= 3;
}

struct Answered {
  Reduction reduction;
  std::vector<std::string> journal; ///< its answers, without how long they took
};

/// Returns what a child does, given the Program and what it would do for the check.
using Disturb = std::function<Job(const std::shared_ptr<const Program> &, Job)>;

Answered run(int jobs, const Disturb &disturb = {}, const std::function<void()> &revive = {}) {
  const TemporaryFolder folder;
  Answered result;
  ReduceOptions options;
  options.jobs = jobs;
  options.limits.timeout = std::chrono::minutes(1);
  options.journal = std::make_shared<Journal>(folder / "journal", Identity(), false);
  InterestingnessTest test = structural_test(has_erf_of_many);
  test.revive = revive;
  if (disturb)
    test.job = [&disturb, job_of = test.job](const std::shared_ptr<const Program> &program) {
      return disturb(program, job_of(program));
    };
  const Verdict verdict = interesting_verdict(true);
  result.reduction = reduce(chain_with("erf", 40), verdict, verdict.signatures.front(), test, options);
  std::ifstream journal(folder / "journal");
  for (std::string line; std::getline(journal, line);)
    if (const auto entry = nlohmann::json::parse(line); entry.contains("hash"))
      result.journal.push_back(entry.at("hash").get<std::string>() + (entry.at("same_failure") ? " yes" : " no"));
  return result;
}

const Answered &undisturbed() {
  static const Answered alone = run(1);
  return alone;
}

void expect_undisturbed(const Answered &found) {
  EXPECT_EQ(canonical_hash(found.reduction.program), canonical_hash(undisturbed().reduction.program));
  EXPECT_EQ(found.reduction.checks, undisturbed().reduction.checks);
  EXPECT_EQ(found.journal, undisturbed().journal);
  EXPECT_TRUE(found.reduction.one_minimal);
  EXPECT_EQ(found.reduction.unanswered, 0);
  EXPECT_TRUE(found.reduction.not_shown_because.empty());
}

Job every_tenth(int &started, const Job &instead, Job otherwise) {
  return ++started % 10 == 0 ? instead : std::move(otherwise);
}

class EveryTenthCheck : public testing::TestWithParam<int> {};

TEST_P(EveryTenthCheck, MayBeKilledFromOutside) {
  int started = 0;
  expect_undisturbed(run(GetParam(), [&](const auto &, Job job) {
    return every_tenth(
        started, [](Child &) { kill(getpid(), SIGKILL); }, std::move(job));
  }));
  EXPECT_GE(started, 30);
}

TEST_P(EveryTenthCheck, MayFindNoRoomForAProcess) {
  constexpr int more_than_one_start_takes = 5;
  int started = 0;
  const int failed_before = failed_forks();
  expect_undisturbed(run(GetParam(), [&](const auto &, Job job) {
    fail_forks(++started % 10 == 0 ? more_than_one_start_takes : 0);
    return job;
  }));
  fail_forks(0);
  EXPECT_GE(failed_forks() - failed_before, more_than_one_start_takes);
}

/// A compiler that could not be started, a worker that is gone.
TEST_P(EveryTenthCheck, MayLackWhatItNeeds) {
  int started = 0, revived = 0;
  const Job lacks = [](Child &child) {
    Verdict verdict;
    verdict.message = "no C++ compiler was found";
    verdict.no_answer = true;
    child.reply(to_json(verdict));
  };
  expect_undisturbed(run(
      GetParam(), [&](const auto &, Job job) { return every_tenth(started, lacks, std::move(job)); },
      [&] { ++revived; }));
  EXPECT_GT(revived, 0);
}

/// So long as all others took a moment: the machine stood still.
TEST_P(EveryTenthCheck, MayPassALearnedLimit) {
  int started = 0, asked_again = 0;
  std::string stood_still;
  expect_undisturbed(run(GetParam(), [&](const std::shared_ptr<const Program> &program, Job job) {
    const std::string hash = canonical_hash(*program);
    asked_again += hash == stood_still;
    if (++started != 20) // once: it takes seconds
      return job;
    stood_still = hash;
    return Job([](Child &) {
      for (;;)
        pause();
    });
  }));
  EXPECT_NE(stood_still, "");
  if (GetParam() == 1) { // with more, what stands still may be a guess that no one needs
    EXPECT_GE(asked_again, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, EveryTenthCheck, testing::Values(1, 4));

/// A question without an answer is asked four times and never remembered, and the result stays the same.
TEST(NoAnswer, OfOneQuestionIsNoAnswerToIt) {
  const auto &journal = undisturbed().journal;
  const auto answered_no =
      std::find_if(journal.begin(), journal.end(), [](const std::string &line) { return line.substr(32) == " no"; });
  ASSERT_NE(answered_no, journal.end());
  const std::string victim = answered_no->substr(0, 32); // the result is the same without its answer
  int asked = 0;
  const Answered found = run(1, [&](const std::shared_ptr<const Program> &program, Job job) {
    if (canonical_hash(*program) != victim)
      return job;
    ++asked;
    return Job([](Child &) { kill(getpid(), SIGKILL); });
  });
  EXPECT_GE(found.reduction.unanswered, 1);
  EXPECT_EQ(asked, 4 * found.reduction.unanswered);
  for (const auto &line : found.journal)
    EXPECT_EQ(line.find(victim), std::string::npos);
  EXPECT_EQ(canonical_hash(found.reduction.program), canonical_hash(undisturbed().reduction.program));
}

/// All that was tried on the result itself had no answer.
TEST(NoAnswer, ClearsOneMinimalWithAReason) {
  const Answered &alone = undisturbed();
  std::set<std::string> answered_no;
  for (const auto &line : alone.journal)
    if (line.substr(32) == " no")
      answered_no.insert(line.substr(0, 32));
  const std::string last = alone.journal.back().substr(0, 32);
  ASSERT_TRUE(answered_no.count(last));
  const Answered found = run(1, [&](const std::shared_ptr<const Program> &program, Job job) {
    return canonical_hash(*program) == last ? Job([](Child &) { kill(getpid(), SIGTERM); }) : job;
  });
  EXPECT_EQ(canonical_hash(found.reduction.program), canonical_hash(alone.reduction.program));
  EXPECT_FALSE(found.reduction.one_minimal);
  ASSERT_EQ(found.reduction.not_shown_because.size(), 1u);
  EXPECT_NE(found.reduction.not_shown_because[0].find("killed from outside"), std::string::npos)
      << found.reduction.not_shown_because[0];
}

TEST(NoAnswer, ToAnythingEndsTheReductionWithTheBestSoFar) {
  const Answered found = run(2, [&](const std::shared_ptr<const Program> &, const Job &) {
    return Job([](Child &) { kill(getpid(), SIGKILL); });
  });
  EXPECT_EQ(canonical_hash(found.reduction.program), canonical_hash(chain_with("erf", 40)));
  EXPECT_TRUE(found.journal.empty());
  EXPECT_FALSE(found.reduction.one_minimal);
  EXPECT_EQ(found.reduction.not_shown_because.size(), 1u);
}

} // namespace
} // namespace repro_minify
