// Runtimes that are given what torch.export makes, by a recipe.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;

/// A Python with all that the recipe needs: the one that the environment names, or the one with torch.
std::string python_with_onnxruntime() {
  const char *named = std::getenv("REPRO_MINIFY_ONNXRUNTIME_PYTHON");
  const std::string python = named ? named : test_paths::python;
  const std::string question = "import sys; from importlib.util import find_spec\n"
                               "sys.exit(not all(map(find_spec, ('torch', 'onnx', 'onnxscript', 'onnxruntime'))))";
  return !python.empty() && run_program({python, "-c", question}).exit_code == 0 ? python : "";
}

TEST(ExportBackend, FindsWhatOnnxRuntimeGetsWrong) {
  const std::string python = python_with_onnxruntime();
  if (python.empty())
    GTEST_SKIP()
        << "no Python with torch, onnx, onnxscript and onnxruntime (REPRO_MINIFY_ONNXRUNTIME_PYTHON names one)";
  const TemporaryFolder folder;
  const Finished made = run_program({python, test_paths::onnxruntime_model, folder.path()});
  ASSERT_EQ(made.exit_code, 0) << describe(made);
  const fs::path repro = folder / "x.repro";
  const Finished finished =
      run_tool({folder / "failing.pt", "--backend", "export:onnxruntime", "--python", python, "-o", repro, verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_TRUE(report["verified"]) << report["verification"];
  EXPECT_LE(report["after"]["operators"], 9);
  EXPECT_TRUE(fs::exists(repro / "model.onnx"));
  EXPECT_NE(read_text(repro / "issue.md").find("### ONNX Runtime Version or Commit ID"), std::string::npos);
}

/// A recipe of the user's own: a runtime that rounds, and says how it can be told not to.
const char *const rounding = R"(
import torch

TITLE = "Rounding"

def compile(program, inputs, rounded=True):
    module = program.module()
    return lambda *given: module(*[x.bfloat16().to(x.dtype) if rounded and x.is_floating_point() else x.clone()
                            for x in given])

def steps():
    return ["rounding"]

def without(step):
    return {"rounded": False}
)";

TEST(ExportBackend, TakesARecipeOfTheUsersOwn) {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine.py") << rounding;
  const Case one = case_named("freeze_linear_bn_3d");
  const fs::path repro = folder / "x.repro";
  const std::string backend = "export:" + std::string(folder / "mine.py");
  const Finished finished = run_tool({one.model(), "--backend", backend, "-o", repro, verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_TRUE(report["verified"]) << report["verification"];
  EXPECT_LE(report["after"]["operators"], 1);
  EXPECT_EQ(report["bisect"]["guilty"], "rounding");
  EXPECT_FALSE(fs::exists(repro / "repro.cpp")); // C++ cannot call what a recipe compiles
  EXPECT_EQ(finished.out, (repro / "repro.py").string() + "\n");
  EXPECT_NE(read_text(repro / "report.md").find("yes: repro.py was run"), std::string::npos);
  const std::string issue = read_text(repro / "issue.md");
  EXPECT_NE(issue.find("### To reproduce"), std::string::npos);
  EXPECT_NE(issue.find("Without rounding the result is right."), std::string::npos) << issue;
  EXPECT_EQ(issue.find("fp64_ref"), std::string::npos) << issue;
  const Finished right = run_tool({"run", one.model(), "--backend", backend, "--backend-option", "rounded=false"});
  EXPECT_EQ(right.exit_code, 0) << describe(right);
}

/// A runtime is given values: what it leaves in a buffer that the model writes to is no failure of it.
TEST(ExportBackend, TakesAModelThatWritesToItsBuffer) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  std::ofstream(folder / "mine.py") << rounding;
  const std::string backend = "export:" + std::string(folder / "mine.py");
  const std::string model = std::string(test_paths::fixtures) + "/doors/exported/counter.pt2";
  const Finished finished = run_tool({"run", model, "--backend", backend, "--backend-option", "rounded=false"});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
}

/// The runtime refuses a product. So does its converter in one case; in the other only what stands in for the runtime
/// has troubles of its own, which say nothing of the converter.
TEST(ExportBackend, AnExceptionIsTheFaultOfTheFirstStepThatRaises) {
  const std::string recipe = R"(
CONVERTER = ("the converter", "its reference", "elsewhere")

def compile(program, inputs):
    raise NotImplementedError("no product here")

def converted(program, inputs):
)";
  const std::pair<const char *, const char *> outcomes[] = {
      {"    raise ValueError('not a valid model')\n", "the converter"},
      {"    def call(*given):\n        raise ValueError('unknown to me')\n    return call\n", "mine"}};
  for (const auto &[body, guilty] : outcomes) {
    const TemporaryFolder folder;
    std::ofstream(folder / "mine.py") << recipe << body;
    const Finished finished = run_tool({"bisect", case_named("freeze_linear_bn_3d").model(), "--backend",
                                        "export:" + std::string(folder / "mine.py"), "--json"});
    ASSERT_EQ(finished.exit_code, 0) << describe(finished);
    EXPECT_EQ(json::parse(finished.out).at("guilty"), guilty) << finished.out;
  }
}

TEST(ExportBackend, SaysWhatARecipeLacks) {
  const TemporaryFolder folder;
  std::ofstream(folder / "wants.py") << "NEEDS = (\"no-such-runtime\",)\nimport no_such_runtime\n";
  const Case one = case_named("freeze_linear_bn_3d");
  const Finished lacking = run_tool({"run", one.model(), "--backend", "export:" + std::string(folder / "wants.py")});
  EXPECT_EQ(lacking.exit_code, 2);
  EXPECT_NE(lacking.err.find("pip install no-such-runtime"), std::string::npos) << describe(lacking);
  const Finished unknown = run_tool({"run", one.model(), "--backend", "export:onnxruntim"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("known are"), std::string::npos) << describe(unknown);
}

TEST(TorchCompileBackend, IsAnyBackendThatDynamoKnows) {
  const Case one = case_named("freeze_linear_bn_3d");
  if (everything_is_asked_for()) {
    const Finished right = run_tool({"run", one.model(), "--backend", "torch-compile:aot_eager"});
    EXPECT_EQ(right.exit_code, 0) << describe(right);
  }
  const Finished unknown = run_tool({"run", one.model(), "--backend", "torch-compile:no_such"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("torch.compile has no such backend here"), std::string::npos) << describe(unknown);
  const TemporaryFolder folder;
  std::ofstream(folder / "off_by_one.py") << "def compiled(graph_module, inputs):\n"
                                             "    return lambda *given: [x + 1 for x in graph_module(*given)]\n";
  const std::string own = "torch-compile:" + std::string(folder / "off_by_one.py") + ":compiled";
  const Finished wrong = run_tool({"run", one.model(), "--backend", own});
  EXPECT_EQ(wrong.exit_code, 1) << describe(wrong);
}

} // namespace
} // namespace repro_minify::end_to_end
