// Models that draw random numbers (fixtures/random): seeds reach every generator, what is not reproducible is said to
// be, and a failure that shows in one run of three can be reduced all the same.
#include "all_tests.h"
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

fs::path random_model(const std::string &name) {
  return fixtures() / "random" / name / "model.pt";
}

int exit_code_of(const std::string &name, const std::vector<std::string> &more = {}) {
  std::vector<std::string> arguments = {"run", random_model(name), "--backend", "jit"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_tool(arguments).exit_code;
}

json report_of(const fs::path &repro) {
  return json::parse(read_text(repro / "report.json"));
}

TEST(Random, DropoutInTrainingModeMatches) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  EXPECT_EQ(exit_code_of("dropout_train", {"--train"}), 0);
  EXPECT_EQ(exit_code_of("dropout_train", {"--train", "--grad"}), 0);
  EXPECT_EQ(exit_code_of("dropout_train", {"--train", "--seed", "7"}), 0);
}

TEST(Random, AFailureBehindDropoutIsReduced) {
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished = run_tool(
      {random_model("dropout_train_failing"), "--backend", "jit", "--train", "-o", repro, "--quiet", "--no-verify"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(report_of(repro).at("after").at("operators"), 2);
  EXPECT_NE(read_text(repro / "report.md").find("type_as"), std::string::npos);
}

TEST(Random, AModelThatDrawsWhileLoadingIsSeededBefore) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  for (const char *seed : {"0", "1", "12345"})
    EXPECT_EQ(exit_code_of("draws_while_loading", {"--seed", seed}), 0) << seed;
  const TemporaryFolder folder;
  const Finished finished = run_tool({random_model("draws_while_loading_failing"), "--backend", "jit", "-o",
                                      folder / "x.repro", "--quiet", "--no-verify"});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
}

TEST(Random, EagerItselfFailsWithTheOperatorsNamed) {
  const Finished run = run_tool({"run", random_model("eager_differs"), "--backend", "jit", "--json"});
  EXPECT_EQ(run.exit_code, 3) << describe(run);
  EXPECT_NE(run.err.find("eager itself failed"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("aten::seed"), std::string::npos) << run.err;
  const TemporaryFolder folder;
  const Finished reduce = run_tool({random_model("eager_differs"), "--backend", "jit", "-o", folder / "x.repro"});
  EXPECT_EQ(reduce.exit_code, 3) << describe(reduce);
  EXPECT_FALSE(fs::exists(folder / "x.repro"));
}

TEST(Random, EagerThatReadsUninitialisedMemoryIsSaidTo) {
  for (const char *backend : {"jit", "eager"}) {
    const Finished run = run_tool({"run", random_model("eager_reads_empty"), "--backend", backend});
    EXPECT_EQ(run.exit_code, 3) << describe(run);
    EXPECT_NE(run.err.find("reads uninitialised memory"), std::string::npos) << run.err;
  }
}

TEST(Random, TheRateOfAFlakyFailureIsMeasured) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished =
      run_tool({"run", random_model("fails_one_in_three"), "--backend", "jit", "--repeat", "60", "--json"});
  ASSERT_EQ(finished.exit_code, 1) << describe(finished);
  const json rate = json::parse(finished.out).at("rate");
  EXPECT_EQ(rate.at("runs"), 60);
  // One in three, give or take four standard deviations.
  EXPECT_GE(rate.at("failed").get<int>(), 6);
  EXPECT_LE(rate.at("failed").get<int>(), 35);
}

TEST(Random, AFailureThatShowsTooSeldomDoesNotCount) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const std::vector<std::string> often = {"--repeat", "20", "--need", "20"};
  EXPECT_EQ(exit_code_of("fails_one_in_three", often), 0);
  const Finished finished = run_tool({random_model("fails_one_in_three"), "--backend", "jit", "-o", folder / "x.repro",
                                      "--repeat", "20", "--need", "20"});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
  EXPECT_NE(finished.err.find("of 20 runs"), std::string::npos) << finished.err;
}

TEST(Random, AFlakyFailureIsReducedAndVerified) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished = run_tool({random_model("fails_one_in_three"), "--backend", "jit", "-o", repro, "--repeat",
                                      "30", "--passes", "cut", verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = report_of(repro);
  EXPECT_EQ(report.at("verified"), true);
  EXPECT_EQ(report.at("rate").at("runs"), 30);
  EXPECT_NE(read_text(repro / "report.md").find("type_as"), std::string::npos) << read_text(repro / "report.md");
  EXPECT_NE(read_text(repro / "repro.cpp").find("Does not show in every run"), std::string::npos);
}

} // namespace
} // namespace repro_minify::end_to_end
