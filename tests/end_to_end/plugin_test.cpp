// Backends as shared libraries: docs/plugin_example reduces as the backend it wraps does, and one that is no plugin is
// told so before anything else.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::string example = std::string("plugin:") + test_paths::example_plugin;

std::string odd(const std::string &oddity) {
  return "plugin:" + (fs::path(test_paths::odd_plugins) / ("odd_plugin_" + oddity + ".so")).string();
}

TEST(Plugin, ReducesAsTheBackendItWraps) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished =
      run_tool({one.model(), "--backend", example, "--backend", "freeze,eager", "-o", repro, verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report["verdict"]["kind"], "accuracy");
  EXPECT_LE(report["after"]["operators"], one.operators_at_most);
  EXPECT_TRUE(report["verified"]);
  EXPECT_EQ(report["after"]["operators_after_freezing"], 2) << "linear and batch_norm";
  // It names itself, and the others are asked about what came out.
  EXPECT_NE(read_text(repro / "report.md").find("freeze-example 1.0"), std::string::npos)
      << read_text(repro / "report.md");
  EXPECT_NE(finished.err.find("under freeze: fails too, with the same signature"), std::string::npos)
      << describe(finished);
  EXPECT_EQ(report["other_backends"][0]["backend"], "freeze");
  EXPECT_EQ(report["other_backends"][0]["outcome"], "fail");
  EXPECT_EQ(report["other_backends"][0]["same_signature"], true);
  EXPECT_EQ(report["other_backends"][1]["backend"], "eager");
  EXPECT_EQ(report["other_backends"][1]["outcome"], "pass");
  EXPECT_EQ(report["other_backends"][1]["same_signature"], false);
}

TEST(Plugin, WhatIsNoneIsBadInput) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("static_int_div_exc");
  const TemporaryFolder folder;
  const auto says = [&](const std::string &backend, const std::string &text) {
    const Finished finished = run_tool({one.model(), "--backend", backend, "-o", folder / "x.repro"});
    EXPECT_EQ(finished.exit_code, 2) << describe(finished);
    EXPECT_NE(finished.err.find(text), std::string::npos) << describe(finished);
    EXPECT_FALSE(fs::exists(folder / "x.repro"));
  };
  says("plugin:", "give the path of a shared library");
  says("plugin:absent.so", "no such file");
  says("plugin:" + one.model().string(), "cannot be used");
  says(odd("VERSION"), "version 2 of the plugin interface, not 1");
  says(odd("WITHOUT_RUN"), "no function repro_minify_backend_run");
}

json verdict_under(const std::string &backend) {
  const Case one = case_named("static_int_div_exc");
  const Finished finished = run_tool({"run", one.model(), "--backend", backend, "--json"});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
  return json::parse(finished.out)["verdict"];
}

TEST(Plugin, ThatReturnsAnErrorRaises) {
  const json verdict = verdict_under(odd("COMPILE"));
  EXPECT_EQ(verdict["kind"], "exception");
  EXPECT_EQ(verdict["message"], "the odd compiler gives up");
}

TEST(Plugin, ThatTakesItsProcessWithItIsACrash) {
  EXPECT_EQ(verdict_under(odd("CRASH"))["kind"], "crash");
}

TEST(Plugin, RefusesGradients) {
  const Finished finished =
      run_tool({"run", case_named("freeze_linear_bn_3d").model(), "--backend", example, "--grad"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("computes no gradients"), std::string::npos) << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
