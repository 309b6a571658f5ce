// Models that fail twice under one backend (fixtures/two_failures): what is handed back fails as the model was first
// seen to fail, not in the easier way that is also there.
#include "all_tests.h"
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class TwoFailures : public testing::TestWithParam<Case> {};

TEST_P(TwoFailures, RunFindsTheFirst) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR(); // a reduction runs it first
  const Case &one = GetParam();
  const Finished finished = run_tool(one.with_backend({"run", one.model(), "--json"}));
  ASSERT_EQ(finished.exit_code, 1) << describe(finished);
  EXPECT_EQ(json::parse(finished.out).at("verdict").at("kind"), one.kind) << finished.out;
}

TEST_P(TwoFailures, ReductionKeepsTheFirst) {
  const Case &one = GetParam();
  const std::set<std::string> like_another = {"grad_threshold_then_output", "grad_value_kind_then_abs",
                                              "jit_count_then_type_as", "jit_loop_swap_then_type_as",
                                              "nnc_clamp_then_hardshrink"};
  if (like_another.count(one.name) > 0)
    SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished = run_tool(one.with_backend({one.model(), "-o", repro, "--quiet", "--no-verify"}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(json::parse(read_text(repro / "report.json")).at("verdict").at("kind"), one.reduced_kind);

  const std::set<std::string> operators = operators_of(repro);
  const std::string program = "\n" + read_text(repro / "report.md");
  for (const std::string &name : one.must_have)
    EXPECT_TRUE(operators.count(name)) << "the first failure needs " << name << program;
  for (const std::string &name : one.must_not_have)
    EXPECT_FALSE(operators.count(name)) << name << " belongs to the second failure" << program;
}

Case two_failures_case(const std::string &name) {
  for (const Case &one : all_cases("two_failures"))
    if (one.name == name)
      return one;
  throw std::invalid_argument(name);
}

/// Allowed to slip, it does, says so, and what it hands back is verified as what it is.
TEST(SameFailure, KindLetsAnotherExceptionThrough) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = two_failures_case("nnc_floor_then_trunc");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished =
      run_tool(one.with_backend({one.model(), "-o", repro, "--quiet", "--same-failure", "kind", verify}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report.at("same_failure"), "kind");
  EXPECT_EQ(report.at("verified"), true);
  EXPECT_EQ(report.at("verdict").at("kind"), "exception");
}

TEST(SameFailure, TheReportNamesEveryOutputThatWasWrong) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = two_failures_case("jit_einsum_then_type_as");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  ASSERT_EQ(run_tool(one.with_backend({one.model(), "-o", repro, "--quiet", "--no-verify"})).exit_code, 0);
  const json wrong = json::parse(read_text(repro / "report.json")).at("original").at("wrong");
  ASSERT_EQ(wrong.size(), 2u) << wrong;
  EXPECT_EQ(wrong.at(0).at("path"), "[0]");
  EXPECT_EQ(wrong.at(0).at("kinds"), json({"accuracy"}));
}

INSTANTIATE_TEST_SUITE_P(Models, TwoFailures, testing::ValuesIn(all_cases("two_failures")), name_of);

} // namespace
} // namespace repro_minify::end_to_end
