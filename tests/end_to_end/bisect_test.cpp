// `bisect` finds, for every real failure, the step that its cause names; so does the end of each case's reduction.
#include "all_tests.h"
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;

std::vector<Case> cases_with_steps() {
  std::vector<Case> chosen;
  for (const Case &one : all_cases()) // those of inductor: inductor_test.cpp, and at the end of each reduction
    if (!one.guilty.empty() && one.backend != "inductor")
      chosen.push_back(one);
  return chosen;
}

class BisectFindsTheStep : public testing::TestWithParam<Case> {};

TEST_P(BisectFindsTheStep, ThatTheCauseNames) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case &one = GetParam();
  const Finished finished = run_tool(one.with_backend({"bisect", one.model(), "--json", "--quiet"}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json answer = json::parse(finished.out);
  EXPECT_EQ(pass_of(answer.at("guilty")), one.guilty) << finished.out;
  // In the first an operator's schema is wrong, and more than one pass believes it; in the second more than one pass
  // makes shared constants of zeros.
  const bool several_passes = one.name == "jit_einsum_view_alias" || one.name == "big_jit_loop_swap";
  EXPECT_EQ(answer.at("confirmed") == true || answer.at("confirmed_each_time") == true, !several_passes)
      << finished.out;
  EXPECT_EQ(answer.at("message").get<std::string>().rfind("wrong after ", 0), 0u);
  EXPECT_LE(answer.at("checks").size(), 16 + 8 * answer.at("needs").size());
}

INSTANTIATE_TEST_SUITE_P(Cases, BisectFindsTheStep, testing::ValuesIn(cases_with_steps()), name_of);

TEST(Bisect, PrintsATableForPeople) {
  const Case one = case_named("freeze_linear_bn_3d");
  const Finished finished = run_tool(one.with_backend({"bisect", one.model()}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  for (const char *part :
       {"all steps", "no step", "all but FoldFrozenLinearBatchnorm", "\nwrong after FoldFrozenLinearBatchnorm\n"})
    EXPECT_NE(finished.out.find(part), std::string::npos) << part << "\n" << finished.out;
}

TEST(Bisect, NamesTheStepThatTheGuiltyOneTakes) {
  const Case one = case_named("grad_70223_unroll_autograd_exc");
  const Finished finished = run_tool(one.with_backend({"bisect", one.model(), "--json"}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(json::parse(finished.out).at("needs"), json({"UnrollLoops"})) << finished.out;
}

TEST(Bisect, AsksPyTorchsOwnSwitchWhereThereIsOne) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  for (const char *name : {"autocast_exp_dtype", "nnc_round_half"}) {
    const Case one = case_named(name);
    const Finished finished = run_tool(one.with_backend({"bisect", one.model(), "--json"}));
    ASSERT_EQ(finished.exit_code, 0) << describe(finished);
    EXPECT_EQ(json::parse(finished.out).at("confirmed_by_switch"), true) << finished.out;
  }
}

TEST(Bisect, SaysThatAModelDoesNotFail) {
  const Case one = case_named("freeze_linear_bn_3d");
  EXPECT_EQ(run_tool({"bisect", one.model(), "--backend", "jit"}).exit_code, 1);
}

TEST(Bisect, RefusesABackendInOnePiece) {
  const Case one = case_named("freeze_linear_bn_3d");
  const Finished finished = run_tool({"bisect", one.model(), "--backend", "eager"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("no steps"), std::string::npos) << finished.err;
}

TEST(Bisect, OpensTheReportOfAReduction) {
  const Case one = case_named("jit_peephole_bool_mul1");
  const TemporaryFolder folder;
  const Finished finished = run_tool(one.with_backend({one.model(), "-o", folder / "repro", "--no-verify", "--quiet"}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const std::string report = read_text(folder / "repro" / "report.md");
  EXPECT_NE(report.substr(0, report.find("```")).find("**Wrong after PeepholeOptimize"), std::string::npos) << report;
  EXPECT_NE(read_text(folder / "repro" / "repro.cpp").find("// Wrong after PeepholeOptimize"), std::string::npos);
  const json facts = json::parse(read_text(folder / "repro" / "report.json"));
  EXPECT_EQ(pass_of(facts.at("bisect").at("guilty")), one.guilty);
}

TEST(Bisect, IsLeftOutWhenAsked) {
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const Finished finished =
      run_tool(one.with_backend({one.model(), "-o", folder / "repro", "--no-verify", "--no-bisect", "--quiet"}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_TRUE(json::parse(read_text(folder / "repro" / "report.json")).at("bisect").is_null());
}

} // namespace
} // namespace repro_minify::end_to_end
