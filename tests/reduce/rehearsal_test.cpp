// Looking ahead across passes: the same questions in the same order for any number of jobs, and most of them begun
// before they are asked.
#include "reduce/chain.h"
#include "reduce/journal.h"
#include "reduce/passes/golden.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

namespace repro_minify {
namespace {

using namespace testing_support;

bool has_erf_of_three(const Program &program) {
  return count(program, "aten::erf") == 1 && program.inputs.size() == 1 &&
         program.inputs.front().value.toTensor().numel() >= 3;
}

struct Asked {
  std::vector<std::string> asked;   ///< in order
  std::map<std::string, int> begun; ///< after how many answers
  Program result;
};

/// Every check sleeps for some time: a busy machine then changes little, and what is begun ahead is what was guessed.
Asked run_sleeping(int jobs, std::chrono::milliseconds nap) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("asked-" + std::to_string(getpid()) + ".jsonl")).string();
  Asked run;
  int answers = 0;
  ReduceOptions options;
  options.jobs = jobs;
  options.limits.timeout = std::chrono::minutes(1);
  options.journal = std::make_shared<Journal>(path, Identity(), false);
  options.progress = [&](const Progress &progress) { answers = progress.checks; };
  InterestingnessTest test = structural_test(has_erf_of_three);
  test.job = [&, job_of = test.job](const std::shared_ptr<const Program> &program) -> Job {
    run.begun.emplace(canonical_hash(*program), answers);
    return [nap, job = job_of(program)](Child &child) {
      std::this_thread::sleep_for(nap);
      job(child);
    };
  };
  const Verdict verdict = interesting_verdict(true);
  run.result = reduce(chain_with("erf", 40), verdict, verdict.signatures.front(), test, options).program;
  std::ifstream journal(path);
  for (std::string line; std::getline(journal, line);)
    if (const auto entry = nlohmann::json::parse(line); entry.contains("hash"))
      run.asked.push_back(entry.at("hash"));
  std::filesystem::remove(path);
  return run;
}

class AskedQuestions : public testing::TestWithParam<int> {};

TEST_P(AskedQuestions, AreTheSameInTheSameOrder) {
  using namespace std::chrono_literals;
  const Asked alone = run_sleeping(1, 0ms), several = run_sleeping(GetParam(), 0ms);
  EXPECT_EQ(several.asked, alone.asked);
  EXPECT_EQ(canonical_hash(several.result), canonical_hash(alone.result));
}

TEST(QuestionsAhead, AreMostlyBegunBefore) {
  const Asked slow = run_sleeping(4, std::chrono::milliseconds(250));
  int begun_before = 0;
  for (int i = 0; i < static_cast<int>(slow.asked.size()); ++i)
    begun_before += slow.begun.at(slow.asked[static_cast<size_t>(i)]) < i;
  EXPECT_GT(begun_before * 2, static_cast<int>(slow.asked.size())) << begun_before << " of " << slow.asked.size();
}

INSTANTIATE_TEST_SUITE_P(Jobs, AskedQuestions, testing::Values(2, 4, 8));

} // namespace
} // namespace repro_minify
