// Reductions of real cases, small enough for a unit test: same result for any number of jobs, 1-minimal, no slip,
// interruption.
#include "all_tests.h"
#include "program/fixture.h"
#include "reduce/journal.h"
#include "reduce/passes/pass.h"
#include "repro_minify/reducer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace repro_minify {
namespace {

struct Problem {
  Program program;
  std::shared_ptr<const Backend> backend;
  Verdict verdict;
};

Problem load_problem(const std::string &name, const std::string &backend) {
  const auto loaded = testing_support::load_case(name);
  Problem problem{flatten_calls(loaded.model, loaded.inputs.values), make_backend(backend), {}};
  if (has_control_flow(problem.program)) {
    const auto recording = record(problem.program, {}, testing_support::test_limits());
    problem.program = follow_decisions(recording.program, recording.decisions);
  }
  problem.verdict = check(factory_of(std::make_shared<Program>(problem.program)), problem.backend, {},
                          testing_support::test_limits());
  return problem;
}

Reduction reduce_problem(const Problem &problem, int jobs, std::function<void(ReduceOptions &)> adjust = {}) {
  ReduceOptions options;
  options.limits = testing_support::test_limits();
  options.jobs = jobs;
  if (adjust)
    adjust(options);
  return reduce(problem.program, problem.verdict, problem.verdict.signatures.at(0),
                interestingness_test(problem.backend, {}), options);
}

class SameForAnyNumberOfJobs : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(SameForAnyNumberOfJobs, ResultAndChecks) {
  const Problem problem = load_problem(GetParam().first, GetParam().second);
  ASSERT_EQ(problem.verdict.outcome, Verdict::Outcome::Fail);
  const Reduction one = reduce_problem(problem, 1);
  EXPECT_TRUE(one.one_minimal);
  for (const int jobs : everything_is_asked_for() ? std::vector{2, 4, 8} : std::vector{4}) {
    const Reduction several = reduce_problem(problem, jobs);
    EXPECT_EQ(canonical_hash(several.program), canonical_hash(one.program)) << jobs;
    EXPECT_EQ(several.checks, one.checks) << jobs;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SameForAnyNumberOfJobs,
                         testing::Values(std::make_pair("big_static_int_div", "static-runtime"),
                                         std::make_pair("big_freeze_linear_bn_3d", "freeze"),
                                         std::make_pair("big_jit_bool_mask", "jit")),
                         [](const auto &info) { return info.param.first; });

/// Removing any one node, output or input ends the failure: tried by brute force, without the search's memory.
TEST(Reduction, IsOneMinimalByBruteForce) {
  const Problem problem = load_problem("big_freeze_linear_bn_3d", "freeze");
  const Reduction reduction = reduce_problem(problem, 2);
  const auto recording = std::make_shared<Recording>(record(reduction.program, {}, testing_support::test_limits()));
  const Cutter cutter(recording);
  for (int removed = 0; removed < cutter.atoms(); ++removed) {
    IndexSet kept;
    for (int atom = 0; atom < cutter.atoms(); ++atom)
      if (atom != removed)
        kept.push_back(atom);
    const Verdict verdict = check(factory_of(std::make_shared<Program>(cutter.cut(kept))), problem.backend, {},
                                  testing_support::test_limits());
    EXPECT_FALSE(shows(verdict, problem.verdict.signatures.at(0))) << "atom " << removed;
  }
}

TEST(Reduction, KeepsTheBestWhenInterrupted) {
  const Problem problem = load_problem("big_freeze_linear_bn_3d", "freeze");
  int checks = 0, improved = 0;
  const Reduction reduction = reduce_problem(problem, 2, [&](ReduceOptions &options) {
    options.progress = [&](const Progress &progress) { checks = progress.checks; };
    options.interrupted = [&] { return checks >= 4; };
    options.on_improved = [&](const Program &) { ++improved; };
  });
  EXPECT_TRUE(reduction.interrupted);
  EXPECT_FALSE(reduction.one_minimal);
  EXPECT_EQ(reduction.not_shown_because, std::vector<std::string>{"it was interrupted"});
  EXPECT_GT(improved, 0);
  EXPECT_LT(size_of(reduction.program).operators, size_of(problem.program).operators);
  EXPECT_TRUE(shows(reduction.verdict, problem.verdict.signatures.at(0)));
}

/// A candidate of which ReduceOptions::also_required says false counts as one that passes, whatever its check says.
TEST(Reduction, KeepsWhatElseIsRequired) {
  const Problem problem = load_problem("big_freeze_linear_bn_3d", "freeze");
  const int fewest = size_of(reduce_problem(problem, 1).program).operators;
  const Reduction reduction = reduce_problem(problem, 1, [&](ReduceOptions &options) {
    options.also_required = [&](const Program &program) { return size_of(program).operators > fewest; };
  });
  EXPECT_GT(size_of(reduction.program).operators, fewest);
  EXPECT_LT(size_of(reduction.program).operators, size_of(problem.program).operators);
  EXPECT_TRUE(shows(reduction.verdict, problem.verdict.signatures.at(0)));
}

TEST(Reduction, SaysWhatIsNotShown) {
  const Problem problem = load_problem("static_int_div_exc", "static-runtime");
  const Reduction whole = reduce_problem(problem, 1);
  EXPECT_TRUE(whole.one_minimal);
  EXPECT_TRUE(whole.not_shown_because.empty());
  const Reduction some = reduce_problem(problem, 1, [](ReduceOptions &options) {
    options.passes.skip = {"sizes", "cut"};
  });
  EXPECT_FALSE(some.one_minimal);
  EXPECT_EQ(some.not_shown_because, std::vector<std::string>{"what was chosen leaves out: cut, sizes"});
  const Reduction none = reduce_problem(problem, 1, [](ReduceOptions &options) { options.time_budget_seconds = 1e-9; });
  EXPECT_FALSE(none.one_minimal);
  EXPECT_EQ(none.not_shown_because, std::vector<std::string>{"the time budget was spent"});
}

/// The work that a caller does with a better Program delays no check.
TEST(Reduction, HandsOutTheBestWhileACheckRuns) {
  const Problem problem = load_problem("static_int_div_exc", "static-runtime");
  InterestingnessTest test = interestingness_test(problem.backend, {});
  std::vector<std::string> events;
  test.job = [&, job_of = test.job](std::shared_ptr<const Program> program) {
    events.emplace_back("begun");
    return job_of(std::move(program));
  };
  ReduceOptions options;
  options.limits = testing_support::test_limits();
  options.progress = [&](const Progress &) { events.emplace_back("answered"); };
  std::vector<int> sizes;
  options.on_improved = [&](const Program &best) {
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.back(), "begun");
    sizes.push_back(size_of(best).operators);
  };
  const Reduction reduction = reduce(problem.program, problem.verdict, problem.verdict.signatures.at(0), test, options);
  ASSERT_FALSE(sizes.empty());
  EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
  EXPECT_GE(sizes.back(), size_of(reduction.program).operators);
}

/// Answers of processes that are kept are asked again in fresh ones in the end.
TEST(Reduction, SaysWhatFreshProcessesAnswerOtherwise) {
  const Problem problem = load_problem("static_int_div_exc", "static-runtime");
  for (const bool fails_afresh : {false, true}) {
    InterestingnessTest test = interestingness_test(problem.backend, {});
    int asked = 0;
    test.fresh_job = [&](std::shared_ptr<const Program> program) -> Job {
      ++asked;
      return test.job(fails_afresh ? std::make_shared<Program>(problem.program) : std::move(program));
    };
    ReduceOptions options;
    options.limits = testing_support::test_limits();
    const Reduction reduction =
        reduce(problem.program, problem.verdict, problem.verdict.signatures.at(0), test, options);
    EXPECT_GT(asked, 0);
    EXPECT_LE(asked, 8);
    EXPECT_EQ(reduction.one_minimal, !fails_afresh);
    if (fails_afresh) {
      EXPECT_NE(reduction.not_shown_because.at(0).find("in a fresh one"), std::string::npos);
    }
  }
}

TEST(Reduction, WritesEveryVerdictToTheJournal) {
  const Problem problem = load_problem("static_int_div_exc", "static-runtime");
  const std::string path = std::filesystem::temp_directory_path() / ("journal-" + std::to_string(getpid()) + ".jsonl");
  const Reduction reduction = reduce_problem(problem, 1, [&](ReduceOptions &options) {
    options.journal = std::make_shared<Journal>(path, Identity(), false);
  });
  std::ifstream journal(path);
  int lines = 0;
  for (std::string line; std::getline(journal, line);)
    ++lines;
  EXPECT_EQ(lines, reduction.checks + 1); // and a header
  std::filesystem::remove(path);
}

TEST(ReductionPasses, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const auto &row : list_reduction_passes()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.summary.empty());
  }
}

TEST(Backends, SayWhatTheyAre) {
  for (const auto &row : list_backends()) {
    const auto backend = make_backend(row.name);
    EXPECT_EQ(backend->name(), row.name);
    EXPECT_FALSE(row.summary.empty());
    EXPECT_NE(backend->source().prepare.find("auto call"), std::string::npos) << row.name;
  }
  EXPECT_THROW(make_backend("nonsense"), UserError);
  EXPECT_THROW(make_backend("pass:nonsense"), UserError);
  EXPECT_THROW(make_backend("pass:"), UserError);
  EXPECT_EQ(make_backend("pass:fuse_add_relu")->name(), "pass:fuse-add-relu");
}

/// Each pass either leaves a real network's result alone or is caught: nothing of ours stops it from running.
TEST(Backends, EveryPassRunsOnARealNetwork) {
  const Problem problem = load_problem("big_ofi_clamp_min", "eager");
  EXPECT_EQ(problem.verdict.outcome, Verdict::Outcome::Pass) << problem.verdict.message;
  for (const auto &row : list_backends()) {
    if (row.name.rfind("pass:", 0) != 0)
      continue;
    const Verdict verdict = check(factory_of(std::make_shared<Program>(problem.program)), make_backend(row.name), {},
                                  testing_support::test_limits());
    EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << row.name << ": " << verdict.message;
  }
}

} // namespace
} // namespace repro_minify
