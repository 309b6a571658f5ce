// `inductor-like` through the real program: faults on purpose are found and reduced, and there are no others.
#include "all_tests.h"
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Reduces a model that has a relu somewhere.
Finished reduce_with(const std::string &fault, const std::string &name, const fs::path &repro,
                     const std::vector<std::string> &more = {}) {
  std::vector<std::string> arguments = {
      case_named(name).model(), "--backend", "inductor-like", "--inject", fault, "-o", repro, "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_tool(arguments);
}

TEST(InductorLike, AWrongKernelIsReducedToItsOperatorAndStandsInTheRepro) {
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished = reduce_with("relu-accuracy", "pass_fuse_add_relu_nan", repro, {verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report["after"]["operators"], 1);
  EXPECT_TRUE(report["verified"]);
  EXPECT_NE(read_text(repro / "repro.cpp").find("static void kernel0"), std::string::npos);
}

TEST(InductorLike, KernelsThatDoNotCompileAreCompiledByTheRepro) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished = reduce_with("relu-compile-error", "pass_fuse_add_relu_nan", repro, {verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report["verdict"]["kind"], "exception");
  EXPECT_TRUE(report["verified"]);
}

TEST(InductorLike, AFaultWhenItRunsIsAnException) {
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished = reduce_with("relu-runtime-error", "pass_fuse_add_relu_nan", repro, {"--no-verify"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(json::parse(read_text(repro / "report.json"))["after"]["operators"], 1);
}

TEST(InductorLike, AnErrorOfItsOwnCompilerIsNoAnswer) {
  const fs::path model = case_named("pass_fuse_add_relu_nan").model();
  const Finished finished =
      run_tool({"run", model, "--backend", "inductor-like", "--inject", "relu-internal-error", "--json"});
  EXPECT_EQ(finished.exit_code, 70) << describe(finished);
  EXPECT_NE(finished.err.find("in stage fuse of inductor-like, repro-minify's own compiler: injected"),
            std::string::npos)
      << finished.err;
}

TEST(InductorLike, IsTheOnlyOneThatPlantsAFault) {
  const fs::path model = case_named("pass_fuse_add_relu_nan").model();
  const Finished finished = run_tool({"run", model, "--backend", "freeze", "--inject", "relu-accuracy"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_NE(finished.err.find("only inductor-like plants it"), std::string::npos) << finished.err;
}

/// A reduction has nothing to say of what ran as in eager.
TEST(InductorLike, DoesNotCallRightWhatItHasNotCompiled) {
  const TemporaryFolder folder;
  const Finished finished = run_tool(
      {case_named("grad_82635_min_tie").model(), "--backend", "inductor-like", "--grad", "-o", folder / "x.repro"});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
  EXPECT_NE(finished.err.find("nothing of it is compiled by inductor-like"), std::string::npos) << describe(finished);
  EXPECT_EQ(finished.err.find("the same as eager"), std::string::npos) << describe(finished);
}

TEST(InductorLike, SaysWhatItHasCompiled) {
  const Finished finished =
      run_tool({"run", case_named("freeze_linear_bn_3d").model(), "--backend", "inductor-like", "--json"});
  const json coverage = json::parse(finished.out).at("details").at("coverage");
  EXPECT_GT(coverage.at("compiled").get<int>(), 0) << coverage;
  EXPECT_EQ(coverage.at("because"), "") << coverage;
  const Finished grad =
      run_tool({"run", case_named("grad_82635_min_tie").model(), "--backend", "inductor-like", "--grad"});
  EXPECT_NE(grad.out.find("compiled: 0 operators; not compiled: "), std::string::npos) << describe(grad);
  EXPECT_NE(grad.out.find("(kernels have no backward)"), std::string::npos) << describe(grad);
}

TEST(InductorLike, IsNotWrongOnWhatOthersGetWrong) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  for (const Case &one : all_cases()) {
    const Finished finished = run_tool({"run", one.model(), "--backend", "inductor-like", "--quiet"});
    // Without its gradients a case may have nothing that can be checked.
    EXPECT_TRUE(finished.exit_code == 0 || (one.grad && finished.exit_code == 2)) << one.name << describe(finished);
  }
}

TEST(InductorLike, PrintsWhatEachStageMade) {
  const Finished finished = run_tool({"run", case_named("big_ofi_clamp_min").model(), "--backend", "inductor-like",
                                      "--dump-stage", "decompose,fuse,generate"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  for (const char *part : {"=== decompose ===", "=== fuse ===", "=== generate ===", "void kernel0(", "PASS"})
    EXPECT_NE(finished.out.find(part), std::string::npos) << part;
  EXPECT_EQ(finished.out.find("=== capture ==="), std::string::npos);
}

TEST(InductorLike, AnUnknownStageIsNamed) {
  const Finished finished = run_tool(
      {"run", case_named("big_ofi_clamp_min").model(), "--backend", "inductor-like", "--skip-stage", "fusing"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("fusing"), std::string::npos) << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
